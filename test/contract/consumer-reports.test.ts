import { mongo } from 'mongoose';
import { send, type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startFailing } from '../support/own-mongod.js';

let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  mongod = await startFailing();
  const { uri } = mongod;
  const client = await new mongo.MongoClient(uri).connect();
  service = await TestService.startOn({ uri, client, db: client.db('tidemark') });
});
beforeEach(async () => {
  app = await service.application();
  await app.product();
  await service.watcher.caughtUp();
});
afterEach(() => stored().deleteMany({}));
afterAll(async () => {
  await service?.stop();
  await mongod.stop();
});

const stored = () => service.db.collection<{ _id: unknown }>('tidemark.consumers');
const consumers = () => send(`${service.url}/admin/v1/consumers`, 'GET', { user: app.user('admin') });

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
