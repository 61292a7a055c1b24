import { mongo } from 'mongoose';
import { ConsumerNotes } from '../../src/replication/feed/index.js';
import { send, type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startFailing } from '../support/own-mongod.js';
import { AdminConsole } from './admin-console.js';

let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;
let record: mongo.Document;
beforeAll(async () => {
  mongod = await startFailing();
  const { uri } = mongod;
  const client = await new mongo.MongoClient(uri).connect();
  service = await TestService.startOn({ uri, client, db: client.db('tidemark') });
});
beforeEach(async () => {
  app = await service.application();
  record = await app.product();
  await service.watcher.caughtUp();
});
afterEach(() => stored().deleteMany({}));
afterAll(async () => {
  await service?.stop();
  await mongod.stop();
});

const stored = () => service.db.collection<{ _id: unknown }>('tidemark.consumers');
const consumers = () => send(`${service.url}/admin/v1/consumers`, 'GET', { user: app.user('admin') });

it('documents without the times of a consumer, by other programs, are left out everywhere', async () => {
  await app.feed('product').page();
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  const fine = (await stored().findOne({ '_id.organizationid': app.organizationid }))!;
  const like = (username: string, fields: object) => {
    const _id: unknown = { ...(fine._id as object), username };
    return { ...fine, _id, ...fields };
  };
  await stored().insertMany([
    like('a', { lastCall: 'yesterday' }),
    like('b', { firstCall: 'yesterday' }),
    like('c', { begun: { to: 'yesterday' } }),
    like('d', { ended: { to: null } }),
    like('e', { ended: 'yesterday' }),
    { ...fine, _id: null },
  ]);
  const expected = [expect.objectContaining({ username: app.user('read') }) as unknown];
  expect(await consumers()).toMatchObject({ status: 200, json: { result: expected } });
  expect(await new AdminConsole(service.uri).json('consumer list')).toEqual(expected);
  const erasures = `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}/erasures`;
  const body = { kind: 'product', id: record['id'] as string };
  const receipt = await send(erasures, 'POST', { user: app.user('admin'), body });
  expect(receipt).toMatchObject({ status: 201, json: { consumers: expected } });
});

it('a consumer that stopped reading hard deletes must start over, however many consumers have called since', async () => {
  await app.feed('product').page();
  const to = (await app.max('product')).toISOString();
  expect((await app.get('product/harddeletes', { query: { to } })).status).toBe(200);
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  const [now, before] = [new Date(), new Date(0)];
  const hardDeletes = { '_id.organizationid': app.organizationid, '_id.service': '' };
  const { matchedCount } = await stored().updateOne(hardDeletes, {
    $set: { expired: now, lastCall: before },
  });
  expect(matchedCount).toBe(1);
  const others = Array.from({ length: 1000 }, (_, n) => ({
    ...{ _id: { ...app.tenant, username: `u${n}`, kind: 'product', service: 'default' } },
    lastCall: new Date(1),
  }));
  await stored().insertMany(others);
  expect(await consumers()).toMatchObject({
    ...{ status: 200, json: { result: [{ username: app.user('read'), state: 'must start over' }] } },
  });
});

it('where counting takes long, it ends in time, and is null for those that are not counted', async () => {
  const now = new Date();
  const usernames = Array.from({ length: 10 }, (_, one) => `reader-${one}`);
  const notes = usernames.map((username) => {
    const _id: unknown = { ...app.tenant, username, kind: 'product', service: 'default' };
    return { _id, firstCall: now, lastCall: now, calls: 1, pages: 1, items: 0, errors: 0, harvests: 1 };
  });
  await stored().insertMany(notes);
  const failPoint = (mode: string) =>
    service.db.client.db('admin').command({
      ...{ configureFailPoint: 'failCommand', mode },
      data: {
        ...{ failCommands: ['aggregate'], namespace: 'tidemark.products' },
        ...{ blockConnection: true, blockTimeMS: 1500 },
      },
    });
  await failPoint('alwaysOn');
  try {
    const { status, json } = await consumers();
    expect(status).toBe(200);
    const { result } = json as { result: { username: string; behindRecords: number | null }[] };
    expect(result.map(({ username }) => username).sort()).toEqual(usernames);
    expect(result.filter(({ behindRecords }) => behindRecords === null).length).toBeGreaterThan(0);
  } finally {
    await failPoint('off');
  }
});
