import { once } from 'node:events';
import { connect } from 'node:net';
import mongoose from 'mongoose';
import { type TestApplication, TestService } from '../support/index.js';

const { BSON } = mongoose.mongo;

const PAST = new Date('2025-03-04T05:06:07.008Z');
/** Four bytes that are not UTF-8, and the text that stands for them until they are on their way. */
const BROKEN = Buffer.from([0xff, 0xc0, 0x80, 0xed]);
const PLACE = 'XXXX';
const UUID = /^[0-9a-f]{8}-/;
const SHOWN = '\ufffd'.repeat(4);

const OP_MSG = 2013;
const HEADER_BYTES = 21;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => {
  app = await service.application();
});

/** Inserts a record as a program does whose driver lets any bytes pass: MongoDB takes them. */
async function insertRaw(collection: string, record: object): Promise<void> {
  const command = {
    insert: collection,
    documents: [{ ...app.tenant, ...record }],
    $db: service.db.databaseName,
  };
  const body = Buffer.from(BSON.serialize(command));
  for (let at = body.indexOf(PLACE); at >= 0; at = body.indexOf(PLACE)) BROKEN.copy(body, at);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeInt32LE(HEADER_BYTES + body.length, 0);
  header.writeInt32LE(OP_MSG, 12);
  const { hostname, port } = new URL(service.uri);
  const socket = connect(Number(port), hostname);
  socket.write(Buffer.concat([header, body]));
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  expect(BSON.deserialize(reply.subarray(HEADER_BYTES))).toMatchObject({ ok: 1, n: 1 });
}

describe('other programs may write in any way MongoDB allows: text that is not UTF-8', () => {
  it.each<[string, string, object, object]>([
    ['in data', 'product', { id: 'a', data: { [PLACE]: PLACE } }, { id: 'a', data: { [SHOWN]: SHOWN } }],
    ['in a channel', 'product', { id: 'a', channels: [PLACE] }, { id: 'a', channels: [SHOWN] }],
    ['in an id, which gets a UUID', 'product', { id: PLACE }, { id: expect.stringMatching(UUID) as string }],
    ['in an e-mail', 'member', { id: 'a', data: { email: `${PLACE}@b` } }, { data: { email: `${SHOWN}@b` } }],
    ['in createdBy', 'member', { id: 'a', createdBy: PLACE }, { id: 'a', createdBy: SHOWN }],
  ])('%s: the record is delivered, and nothing behind it waits', async (_name, kind, record, shown) => {
    const of = kind as 'product' | 'member';
    await insertRaw(`${kind}s`, { lastupdated: PAST, ...record });
    await service.watcher.caughtUp();
    const [item] = (await app.feed(of).page()).items;
    expect(item).toMatchObject(shown);
    await app.remove(of, await app.put(of, { id: 'gone' }));
    expect((await app.hardDeletes(of).page()).ids).toContain('gone');
  });
});
