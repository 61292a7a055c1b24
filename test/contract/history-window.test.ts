/** @depends-on-server */
import { mongo } from 'mongoose';
import { createApp } from '../../src/app.js';
import { readSettings } from '../../src/platform/config/index.js';
import { Preparation } from '../../src/platform/database/index.js';
import { eventually, send, TestService } from '../support/index.js';
import { type OwnMongod, startLocked, startOwn } from '../support/own-mongod.js';

const SENTENCE =
  'This MongoDB keeps no history for reads as of one moment (minSnapshotHistoryWindowInSeconds is 0): set it to 300, ' +
  'its default, with db.adminCommand({ setParameter: 1, minSnapshotHistoryWindowInSeconds: 300 })';

/** A server of the file's own: the setting concerns everything on it. */
let mongod: OwnMongod;
afterEach(() => mongod.stop());

async function setWindow(uri: string, seconds: number): Promise<void> {
  const client = new mongo.MongoClient(uri);
  await client.db('admin').command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: seconds });
  await client.close();
}

async function readiness(service: TestService) {
  const { status, json } = await send(`${service.url}/health/ready`, 'GET', {});
  const { database } = (json as { details: { database: { state?: string; detail?: string } } }).details;
  return { ...database, status };
}

it('a server without a history for snapshot reads ends the start with one sentence that says what to set', async () => {
  mongod = await startOwn();
  await setWindow(mongod.uri, 0);
  const app = await createApp(readSettings({ MONGODB_URI: mongod.uri, LOG_LEVEL: 'silent' }), mongod.uri);
  await app.init();
  await expect(app.get(Preparation).done).rejects.toThrow(`${SENTENCE}, then start again.`);
  await app.close();
});

it('while the service runs, readiness says it, and both recover when it is set', async () => {
  mongod = await startOwn();
  const service = await TestService.start({ MONGODB_URI: mongod.uri });
  await setWindow(mongod.uri, 0);
  await eventually(async () => (await readiness(service)).status === 503);
  expect(await readiness(service)).toMatchObject({ state: 'unfit', detail: `${SENTENCE}.` });
  await setWindow(mongod.uri, 300);
  await service.ready();
  await service.stop();
});

it('also where the user may not ask for the setting: the moments that cannot be read tell it', async () => {
  const locked = await startLocked([{ name: 'writer', roles: [{ role: 'readWrite', db: 'tidemark' }] }]);
  mongod = locked;
  await setWindow(locked.as('root'), 0);
  const host = await TestService.start();
  const service = await host.listening({ MONGODB_URI: locked.as('writer') });
  await eventually(async () => (await readiness(service)).detail === `${SENTENCE}.`);
  await setWindow(locked.as('root'), 300);
  await service.ready();
  await service.leave();
  await host.stop();
});
