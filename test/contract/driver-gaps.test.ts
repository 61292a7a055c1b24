import { setImmediate as turn } from 'node:timers/promises';
import mongoose, { mongo } from 'mongoose';
import type Module from 'node:module';
import { DatabaseModule, findAll } from '../../src/platform/database/index.js';
import { Gate } from '../support/index.js';

const ROUNDS = 20;
const TURNS = 60;

beforeAll(() => void DatabaseModule.at('mongodb://127.0.0.1'));

it('a command that begins while its connection is being closed comes to an end', async () => {
  const gate = await Gate.to(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? '');
  await gate.open();
  const client = new mongo.MongoClient(gate.uri, { maxPoolSize: 4 });
  const begun: Promise<unknown>[] = [];
  const ping = () => client.db().command({ ping: 1 });
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all([ping(), ping(), ping(), ping()].map((one) => one.catch(() => undefined)));
    gate.cut();
    for (let n = 0; n < TURNS; n += 1) {
      await turn();
      begun.push(ping().catch((error: unknown) => error));
    }
  }
  expect(await Promise.all(begun)).toHaveLength(ROUNDS * TURNS);
  await client.close(true);
  await gate.shut();
});

it('an error is decoded even where a reply is wanted raw: the driver itself needs its topologyVersion', () => {
  const { createRequire } = loadedByNode('node:module') as typeof Module;
  const fromMongoose = createRequire(createRequire(__filename).resolve('mongoose'));
  const { MongoDBResponse } = fromMongoose('mongodb/lib/cmap/wire_protocol/responses.js') as {
    MongoDBResponse: new (bytes: Uint8Array) => { toObject: (options: object) => mongo.Document };
  };
  const topologyVersion = { processId: new mongo.ObjectId(), counter: 1 };
  const { BSON } = mongoose.mongo;
  const refused = new MongoDBResponse(BSON.serialize({ ok: 0, topologyVersion }));
  const answered = new MongoDBResponse(BSON.serialize({ ok: 1, cursor: {} }));
  expect(refused.toObject({ raw: true })['topologyVersion']).toEqual(topologyVersion);
  expect(answered.toObject({ raw: true })['cursor']).toBeInstanceOf(Uint8Array);
});

describe('a query that is read without a cursor of the driver', () => {
  const name = `scratch-${new mongo.ObjectId().toHexString()}`;
  const client = new mongo.MongoClient(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? '');
  const db = client.db();
  afterAll(async () => {
    await db.collection(name).drop();
    await client.close();
  });

  it('returns all documents if they do not fit into one reply', async () => {
    const text = 'x'.repeat(1_000_000);
    for (let n = 0; n < 20; n += 1) await db.collection(name).insertOne({ n, text });
    const found = await findAll<{ n: number }>(db, { find: name, filter: { n: { $gt: 0 } }, sort: { n: 1 } });
    expect(found.map(({ n }) => n)).toEqual(Array.from({ length: 19 }, (_, index) => index + 1));
  });

  it('is sent again after its connection was cut', async () => {
    const gate = await Gate.to(process.env['TIDEMARK_TEST_MONGODB_URI'] ?? '');
    await gate.open();
    const behind = new mongo.MongoClient(gate.uri, { maxPoolSize: 1 });
    const query = { find: name, filter: { n: 7 }, projection: { _id: 0, n: 1 } };
    const found: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await findAll(behind.db(), query);
      const reading = findAll(behind.db(), query).catch((error: unknown) => error);
      for (let n = 0; n < round; n += 1) await turn();
      gate.cut();
      found.push(await reading);
    }
    expect(found).toEqual(found.map(() => [{ n: 7 }]));
    await behind.close(true);
    await gate.shut();
  });

  it('fails with the error of the server', async () => {
    const query = { find: name, filter: {}, hint: 'missing' };
    await expect(findAll(db, query)).rejects.toMatchObject({ name: 'MongoServerError', code: 2 });
  });
});
