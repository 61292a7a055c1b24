import { setTimeout as wait } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { eventually } from '../support/index.js';
import { objectIdsIn, ProxyWay, ReplicaSet } from './world/index.js';

let set: ReplicaSet;
let way: ProxyWay;
let client: mongo.MongoClient;
let direct: mongo.MongoClient;

beforeAll(async () => {
  set = await ReplicaSet.start({ nodes: 1, shortOplog: false });
  way = await ProxyWay.to(await set.primaryPort());
  client = await new mongo.MongoClient(way.uri('holds', set.login())).connect();
  direct = await new mongo.MongoClient(set.uri('holds')).connect();
}, 60_000);

afterAll(async () => {
  await client.close(true);
  await direct.close();
  await way.close();
  await set.remove();
});

const isThere = async (_id: mongo.ObjectId) =>
  (await direct.db().collection('held').countDocuments({ _id })) === 1;

test('one command is held, others pass, and it reaches the server when it is released', async () => {
  const _id = new mongo.ObjectId();
  const hold = way.hold(({ name, collection }) => name === 'insert' && collection === 'held');
  const written = client.db().collection('held').insertOne({ _id });
  await eventually(() => hold.caught.length === 1);
  await client.db().collection('passing').insertOne({ _id });
  await client.db().collection('held').insertOne({});
  expect(objectIdsIn(hold.caught[0]?.documents)).toEqual([_id]);
  expect(await isThere(_id)).toBe(false);
  hold.release();
  await written;
  expect(await isThere(_id)).toBe(true);
});

test('a command whose client has gone meanwhile reaches the server all the same', async () => {
  const _id = new mongo.ObjectId();
  const gone = await new mongo.MongoClient(way.uri('holds', set.login())).connect();
  const hold = way.hold(({ collection }) => collection === 'held');
  const written = gone
    .db()
    .collection('held')
    .bulkWrite([{ insertOne: { document: { _id } } }, { insertOne: { document: {} } }])
    .catch(() => undefined);
  await eventually(() => hold.caught.length === 1);
  expect(objectIdsIn(hold.caught[0]?.documents)).toContainEqual(_id);
  await gone.close(true);
  await wait(100);
  hold.release();
  await eventually(() => isThere(_id));
  await written;
});

test('a large message comes through whole', async () => {
  const text = 'c'.repeat(9 * 1024 * 1024);
  const { insertedId: _id } = await client.db().collection('large').insertOne({ text });
  expect((await direct.db().collection('large').findOne({ _id }))?.['text']).toBe(text);
});
