import { mongo } from 'mongoose';
import { findAll, isDatabaseAway, isRetryable } from '../../src/platform/database/index.js';
import { type OwnMongod, startFailing } from '../support/own-mongod.js';

const INTERRUPTED = 11602;
/** Of a server that has just started. */
const NO_MAJORITY_YET = 134;
const LARGE = 6_000_000;

let mongod: OwnMongod;
let client: mongo.MongoClient;
let sent: mongo.Document[] = [];
beforeAll(async () => {
  mongod = await startFailing();
  client = new mongo.MongoClient(mongod.uri, { monitorCommands: true });
  client.on('commandStarted', ({ command }) => {
    const { find, getMore, filter, readConcern } = command;
    if (find ?? getMore)
      sent.push({ what: find ? 'find' : 'getMore', filter, readConcern: { ...readConcern } });
  });
});
beforeEach(() => void (sent = []));
afterAll(async () => {
  await client.close();
  await mongod.stop();
});

const fail = (times: number, failure: object) =>
  client.db('admin').command({
    configureFailPoint: 'failCommand',
    mode: { times },
    data: { failCommands: ['find'], ...failure },
  });
const query = { find: 'some', filter: { n: { $gte: 1 } }, sort: { n: 1 } };

it('all documents are returned if they do not fit in one reply', async () => {
  const documents = [5, 4, 3, 2, 1, 0].map((n) => ({ n, text: 'x'.repeat(LARGE) }));
  await client.db().collection('some').insertMany(documents);
  const found = await findAll<{ n: number }>(client.db(), query);
  expect(found.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5]);
  expect(sent.map(({ what }) => what as string)).toEqual(['find', 'getMore', 'getMore']);
});

it.each([
  ['another server is primary', { errorCode: INTERRUPTED }],
  ['the connection is lost', { closeConnection: true }],
  ['the server has no majority to read from yet', { errorCode: NO_MAJORITY_YET }],
])('the same command is sent again once if %s', async (_what, failure) => {
  await fail(1, failure);
  await expect(findAll(client.db(), { ...query, find: 'none' })).resolves.toEqual([]);
  expect(sent).toEqual([sent[0], sent[0]]);
  await fail(2, failure);
  const error: unknown = await findAll(client.db(), query).catch((reason: unknown) => reason);
  expect([isRetryable(error), isDatabaseAway(error)]).toEqual([true, true]);
});
