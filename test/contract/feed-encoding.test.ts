import mongoose from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import { collectionNamed, storedField, type TestApplication, TestService, WARE } from '../support/index.js';
import { insertRaw } from './raw-insert.js';

const { BSON } = mongoose.mongo;

const PAST = new Date('2025-03-04T05:06:07.008Z');
/** Four bytes that are not UTF-8, and the text that stands for them until they are on their way. */
const BROKEN = Buffer.from([0xff, 0xc0, 0x80, 0xed]);
const PLACE = 'XXXX';
const UUID = /^[0-9a-f]{8}-/;
const SHOWN = '\ufffd'.repeat(4);

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares();
});
afterAll(() => service.stop());
beforeEach(async () => {
  app = await service.application();
});

/** Inserts a record as a program does whose driver lets any bytes pass: MongoDB takes them. */
async function insertBroken(collection: string, record: object): Promise<void> {
  const document = Buffer.from(BSON.serialize({ ...app.tenant, ...record }));
  for (let at = document.indexOf(PLACE); at >= 0; at = document.indexOf(PLACE)) BROKEN.copy(document, at);
  await insertRaw(service.uri, collection, document);
}

describe('other programs may write in any way MongoDB allows: text that is not UTF-8', () => {
  it.each<[string, Kind, object, object]>([
    ['in data', 'product', { id: 'a', data: { [PLACE]: PLACE } }, { id: 'a', data: { [SHOWN]: SHOWN } }],
    ['in a channel', 'product', { id: 'a', channels: [PLACE] }, { id: 'a', channels: [SHOWN] }],
    ['in an id, which gets a UUID', 'product', { id: PLACE }, { id: expect.stringMatching(UUID) as string }],
    ['in an e-mail', 'member', { id: 'a', data: { email: `${PLACE}@b` } }, { data: { email: `${SHOWN}@b` } }],
    ['in the data of a ware', WARE, { sku: 'a', [PLACE]: PLACE }, { id: 'a', data: { [SHOWN]: SHOWN } }],
    ['in the id of a ware', WARE, { sku: PLACE }, { id: expect.stringMatching(UUID) as string }],
    ['in createdBy', 'member', { id: 'a', createdBy: PLACE }, { id: 'a', createdBy: SHOWN }],
  ])('%s: the record is delivered, and nothing behind it waits', async (_name, kind, record, shown) => {
    await insertBroken(collectionNamed(kind), { [storedField(kind, 'lastupdated')]: PAST, ...record });
    await service.watcher.caughtUp();
    const [item] = (await app.feed(kind).page()).items;
    expect(item).toMatchObject(shown);
    await app.remove(kind, await app.put(kind, { id: 'gone' }));
    expect((await app.hardDeletes(kind).page()).ids).toContain('gone');
  });
});
