import { mongo } from 'mongoose';
import { openStream } from '../../src/replication/watcher/index.js';
import { TermLife } from '../../src/replication/store/index.js';
import { eventually, TestService } from '../support/index.js';

let service: TestService;
let client: mongo.MongoClient;
/** The `batchSize` of each further read of the stream that the server has answered. */
const asked: number[] = [];
beforeAll(async () => {
  service = await TestService.start();
  client = new mongo.MongoClient(service.uri, { monitorCommands: true });
  const sent = new Map<number, number>();
  client.on('commandStarted', ({ requestId, command }) => {
    if (command['getMore'] !== undefined) sent.set(requestId, command['batchSize'] as number);
  });
  client.on('commandSucceeded', ({ requestId }) => {
    const batchSize = sent.get(requestId);
    if (batchSize !== undefined) asked.push(batchSize);
  });
  await client.connect();
});
beforeEach(() => asked.splice(0));
afterAll(async () => {
  await client.close();
  await service.stop();
});

/** A stream from a place on after which this number of records was written. */
async function streamOver(records: number) {
  const app = await service.application();
  const term = new TermLife();
  const stop = new AbortController();
  const opening = { db: client.db(service.db.databaseName), memory: [], startAfter: undefined };
  const first = openStream({ client, term, stop: stop.signal }, opening);
  const { value } = await first.next();
  await first.return();
  const many = Array.from({ length: records }, (_, n) => ({
    _id: new mongo.ObjectId(),
    ...app.tenant,
    id: `r${n}`,
  }));
  await service.db.collection<mongo.Document>('products').insertMany(many);
  const startAfter = (value as { token: unknown }).token;
  return openStream({ client, term, stop: stop.signal }, { ...opening, startAfter });
}

it('after a full batch the next one is read while that one is worked through, and no more', async () => {
  const stream = await streamOver(20);
  const opened = await stream.next();
  expect(opened.value).toMatchObject({ events: [] });
  expect(asked).toEqual([]);
  const one = await stream.next();
  expect(one.value).toMatchObject({ isLast: false });
  await eventually(() => asked.length === 2);
  await service.db.command({ ping: 1 });
  expect(asked).toEqual([1, 2]);
  await stream.next();
  await eventually(() => asked.length === 3);
  expect(asked).toEqual([1, 2, 4]);
  await stream.return();
});

it('every record comes once and in order, whatever was read ahead', async () => {
  const stream = await streamOver(300);
  const seen: unknown[] = [];
  for await (const { events, isLast } of stream) {
    for (const event of events) if (event.type === 'written') seen.push(event.identity.id);
    if (isLast && seen.length > 0) break;
  }
  expect(seen.filter((id) => id !== undefined)).toEqual(Array.from({ length: 300 }, (_, n) => `r${n}`));
});
