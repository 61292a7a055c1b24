import { mongo } from 'mongoose';
import { databaseProblem, isDatabaseAway, refusedAsDuplicate } from '../../src/platform/database/index.js';
import { expectProblem, send, type TestApplication, TestService } from '../support/index.js';
import { freshDatabase } from '../support/database.js';
import { type OwnMongod, startFailing } from '../support/own-mongod.js';
import { AdminConsole } from './admin-console.js';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let records: mongo.Collection<{ _id: number; n?: number }>;
beforeAll(async () => {
  database = await freshDatabase();
  records = database.db.collection('records');
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database.client.close();
});

/** As where the majority of a replica set is away; this one has a single member. */
const BY_TWO = { writeConcern: { w: 2, wtimeoutMS: 100 } };
const errorOf = (write: Promise<unknown>) =>
  write.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a write that is not confirmed: 503, since nobody knows whether a fail-over takes it back', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['insert', () => records.insertOne({ _id: 1 }, BY_TWO)],
    ['update', () => records.updateOne({ _id: 1 }, { $set: { n: 1 } }, BY_TWO)],
    ['find and update', () => records.findOneAndUpdate({ _id: 1 }, { $set: { n: 2 } }, BY_TWO)],
    ['delete', () => records.deleteOne({ _id: 1 }, BY_TWO)],
    [
      'bulk',
      () => records.bulkWrite([{ insertOne: { document: { _id: 2 } } }], { ordered: false, ...BY_TWO }),
    ],
  ])('%s', async (_name, write) => {
    const error = await errorOf(write());
    expect(isDatabaseAway(error)).toBe(true);
    expect(databaseProblem(error)).toMatchObject({ status: 503, slug: 'database-away' });
  });

  it('a bulk in which others were duplicates is no success either', async () => {
    await records.insertOne({ _id: 3 });
    const documents = [{ _id: 3 }, { _id: 4 }];
    const bulk = documents.map((document) => ({ insertOne: { document } }));
    const error = await errorOf(records.bulkWrite(bulk, { ordered: false, ...BY_TWO }));
    expect(() => refusedAsDuplicate(error)).toThrow();
    expect(isDatabaseAway(error)).toBe(true);
  });
});

describe('a transaction that no majority confirms: its commit is not repeated, and the answer says that it may be in force', () => {
  let mongod: OwnMongod;
  let service: TestService;
  let app: TestApplication;
  let root: string;
  beforeAll(async () => {
    mongod = await startFailing();
    const { uri } = mongod;
    const client = await new mongo.MongoClient(uri).connect();
    service = await TestService.startOn({ uri, client, db: client.db('tidemark') });
    app = await service.application();
    root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  });
  beforeEach(async () => {
    // Whatever was committed without a confirmation is in every snapshot from now on.
    const confirmed = { appendOplogNote: 1, data: {}, writeConcern: { w: 'majority' } };
    await service.db.client.db('admin').command(confirmed);
    await failCommits('alwaysOn');
  });
  afterAll(async () => {
    await failCommits('off');
    await service.stop();
    await mongod.stop();
  });

  type Mode = 'alwaysOn' | 'off' | { skip: number } | { times: number };
  /** Commits take effect, and are answered as where a majority does not confirm them within `wtimeoutMS`. */
  const failCommits = (mode: Mode) =>
    failWith(mode, { writeConcernError: { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'timed out' } });
  const failWith = (mode: Mode, failure: object) =>
    service.db.client.db('admin').command({
      configureFailPoint: 'failCommand',
      mode,
      data: { failCommands: ['commitTransaction'], ...failure },
    });
  const stored = (username: string) => service.db.collection('credentials').findOne({ username });

  it('a request', async () => {
    const body = { username: 'asked', level: 'read', scopes: [app.tenant] };
    const answer = await send(`${service.url}/admin/v1/credentials`, 'POST', { user: root, body });
    expect(expectProblem(answer, 503, 'database-away').detail).toContain('may have been made');
    expect(await stored('asked')).not.toBeNull();
  });

  it('a request that applies a configuration', async () => {
    const credentials = [{ username: 'applied', level: 'read', scopes: [app.tenant] }];
    const url = `${service.url}/admin/v1/configuration/apply`;
    // The first commit is that of the read with which the changes are compared.
    await failCommits({ skip: 1 });
    const answer = await send(url, 'POST', { user: root, body: { credentials } });
    expect(expectProblem(answer, 503, 'database-away').detail).toContain('may have been made');
    expect(await stored('applied')).not.toBeNull();
  });

  it('a commit that the server rolled back is no commit: the transaction is repeated', async () => {
    const NO_SUCH_TRANSACTION = 251;
    await failWith({ times: 1 }, { errorCode: NO_SUCH_TRANSACTION });
    const body = { username: 'repeated', level: 'read', scopes: [app.tenant] };
    const answer = await send(`${service.url}/admin/v1/credentials`, 'POST', { user: root, body });
    expect(answer.status).toBe(201);
    expect(await stored('repeated')).not.toBeNull();
  });

  it('a command', async () => {
    const { organizationid: org, appid } = app;
    const issue = `credential issue --username typed --org ${org} --app ${appid} --level read`;
    expect(await new AdminConsole(mongod.uri).failure(issue)).toMatch(
      /^The database has not confirmed .* may have been made/,
    );
    expect(await stored('typed')).not.toBeNull();
  });

  it('an import', async () => {
    await app.product({ id: 'imported' });
    const before = Number((await failCommits('alwaysOn'))['count']);
    const words = `import --org ${app.organizationid} --app ${app.appid} --kind product -`;
    const { code, errors } = await new AdminConsole(mongod.uri).run(words, {
      input: '{"id":"imported","data":{"from":"file"}}\n',
    });
    expect([code, errors.at(-1)]).toEqual([1, expect.stringMatching(/^The database has not confirmed /)]);
    expect(Number((await failCommits('off'))['count'])).toBe(before + 1);
  });

  it('a read of the configuration is not repeated either, and speaks of no change', async () => {
    const failure = await new AdminConsole(mongod.uri).failure('config export');
    expect(failure).toMatch(/^The database does not answer/);
    expect(failure).not.toContain('change');
    // The second one does not find the first one still in its place.
    for (let round = 0; round < 2; round += 1) {
      const answer = await send(`${service.url}/admin/v1/configuration`, 'GET', { user: root });
      expect(expectProblem(answer, 503, 'database-away').detail).toContain('Nothing was lost');
    }
  });

  it('a write that another transaction is in the way of says so', async () => {
    await failCommits('off');
    const body = { username: 'held', level: 'read', scopes: [app.tenant] };
    const credentials = `${service.url}/admin/v1/credentials`;
    expect((await send(credentials, 'POST', { user: root, body })).status).toBe(201);
    await service.db.client.withSession(async (session) => {
      session.startTransaction();
      const hold = { $set: { heldBy: 'another transaction' } };
      await service.db.collection('credentials').updateOne({ username: 'held' }, hold, { session });
      const answer = await send(`${credentials}/held/rotate`, 'POST', { user: root });
      const { detail } = expectProblem(answer, 503, 'query-timeout');
      expect(detail).toContain('Nothing was changed');
      expect(detail).not.toContain('window');
      await session.abortTransaction();
    });
  });
});
