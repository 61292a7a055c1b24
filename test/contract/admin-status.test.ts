import { isDeepStrictEqual } from 'node:util';
import { mongo } from 'mongoose';
import { eventually, freshDatabase, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

interface Status {
  database: { name: string; version: string; replicaSet: string };
  missingIndexes: string[];
  watcher: {
    leader?: string;
    leaseExpires?: string;
    since?: string;
    lagSeconds?: number;
    oplogWindowSeconds?: number;
    oplogUsedRatio?: number;
    pass?: { reason: string; done: number; total: number };
  };
  totals: Record<string, number | Record<string, number>>;
  audit?: object;
  hardDeletesExpired?: string;
  documents: Record<string, number>;
  emailDuplicates: { members: number; first: { emailkey: string; members: string[] }[] };
}

describe('`status` (database, watcher, lag, indexes)', () => {
  let service: TestService;
  let admin: AdminConsole;

  beforeAll(async () => {
    service = await TestService.start();
    admin = new AdminConsole(service.uri);
  });
  afterAll(() => service.stop());

  it('tells who leads, since when, and how far behind', async () => {
    const { watcher } = await admin.json<Status>('status');
    const lease = await service.db.collection('tidemark.leases').findOne();
    expect(watcher.leader).toBe(lease?.['holder']);
    expect(Date.parse(watcher.since ?? '')).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(watcher.leaseExpires ?? '')).not.toBeNaN();
    expect(watcher.lagSeconds).toBeGreaterThanOrEqual(0);
    expect((await admin.run('status')).output).toContain(
      `Watcher     ${watcher.leader} leads, history since the pass of 20`,
    );
  });

  it('tells for how long the watcher can be down', async () => {
    const { watcher } = await admin.json<Status>('status');
    expect(watcher.oplogWindowSeconds).toBeGreaterThan(0);
    expect(watcher.oplogUsedRatio).toBeGreaterThan(0);
    expect((await admin.run('status')).output).toMatch(
      /^Oplog {7}(the watcher can be down for \d|reaches back \d.*; it is \d+ % full, and holds about \d)/m,
    );
  });

  it('tells the database and what it holds', async () => {
    const app = await service.application();
    await app.products(3);
    const { database, documents } = await admin.json<Status>('status');
    expect(database.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(documents).toMatchObject({ applications: 1, products: 3, members: 0, credentials: 3 });
  });

  it('tells which indexes are missing', async () => {
    expect((await admin.json<Status>('status')).missingIndexes).toEqual([]);
    expect((await admin.run('status')).output).toContain('Indexes     all exist');
    await service.db.collection('products').dropIndex('organizationid_1_appid_1_channels_1');
    expect((await admin.json<Status>('status')).missingIndexes).toEqual([
      'products: organizationid, appid, channels',
    ]);
  });

  it.each([
    ['tidemark.moments', 'passed'],
    ['tidemark.filterversions', 'organizationid, appid, kind, name'],
    ['tidemark.emailduplicates', 'organizationid, appid, emailkey'],
  ])('tells of those of %s too, which only the watcher uses', async (collection, fields) => {
    await service.db.collection(collection).dropIndexes();
    expect((await admin.json<Status>('status')).missingIndexes).toContain(`${collection}: ${fields}`);
  });

  it('lists duplicate e-mails that others made', async () => {
    const app = await service.application();
    await app.member({ id: 'first', data: { email: 'ada@example.org' } });
    await service.watcher.caughtUp();
    const second = await app.member({ id: 'second', data: { email: ' ADA@example.org' } });
    const found = async () => (await admin.json<Status>('status')).emailDuplicates;
    await eventually(async () => (await found()).members === 1);
    expect((await found()).first).toEqual([
      { ...app.tenant, emailkey: 'ada@example.org', members: [second._id.toHexString()] },
    ]);
    expect((await admin.run('status')).output).toContain(
      `ada@example.org: members with _id ${second._id.toHexString()}`,
    );
  });

  it('names twenty of the members who share an e-mail, and the number of the others', async () => {
    const shared = { ...(await service.application()).tenant, emailkey: 'shared@example.org' };
    const members = Array.from({ length: 1022 }, () => ({ _id: new mongo.ObjectId(), ...shared }));
    await service.db.collection('tidemark.emailduplicates').insertMany(members);
    const { first } = (await admin.json<Status>('status')).emailDuplicates;
    const found = first.find(({ emailkey }) => emailkey === shared.emailkey)!;
    expect(found).toMatchObject({ ...shared, others: 1002 });
    expect(found.members).toHaveLength(20);
    expect((await admin.run('status')).output).toContain(`${found.members.at(-1)}, and 1,002 more`);
    await service.db.collection('tidemark.emailduplicates').deleteMany(shared);
  });

  it('tells what the leaders did: re-stamps by reason, tombstones, passes, records ignored', async () => {
    const app = await service.application();
    const gone = await app.product();
    await service.watcher.caughtUp();
    await app.remove('product', gone);
    await app.product({ lastupdated: new Date('2999-01-01') });
    await service.db
      .collection<{ _id: unknown }>('products')
      .insertOne({ _id: 'no-object-id', ...app.tenant });
    await eventually(async () => isDeepStrictEqual((await admin.json<Status>('status')).totals, DONE));
    const { output } = await admin.run('status');
    for (const line of [
      'Re-stamps   bad 1',
      'Tombstones  1 written, all are kept',
      'Passes      first start 1',
      'Repaired    emailkey 1',
      'Ignored     product 1',
    ])
      expect(output).toContain(line);
  });

  it('goes on counting where another instance comes to lead', async () => {
    const second = await service.another();
    const app = (await service.application()).seenBy(second);
    const gone = await app.product();
    await service.watcher.caughtUp();
    await service.leave();
    await eventually(async () => (await second.metric('tidemark_watcher_leads')) === 1);
    await app.remove('product', gone);
    const expected = { ...DONE, tombstones: 2 };
    await eventually(async () => isDeepStrictEqual((await admin.json<Status>('status')).totals, expected));
    await second.leave();
  });
});

/** What the tests above give the watcher to do. */
const DONE = {
  restamps: { bad: 1 },
  tombstones: 1,
  passes: { 'first start': 1 },
  repaired: { emailkey: 1 },
  ignored: { member: 0, product: 1 },
};

describe('`status` shows what it finds in the database', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;

  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(async () => {
    await database.db.dropDatabase();
    await database.client.close();
  });

  const put = (collection: string, document: { _id: string }) =>
    database.db.collection<{ _id: string }>(collection).insertOne(document);

  it('a pass under way, with a percentage', async () => {
    const pass = {
      reason: 'drop of products',
      isRepair: true,
      started: new Date(0),
      done: 1500,
      total: 6000,
    };
    await put('tidemark.leases', {
      _id: 'watcher',
      ...{ holder: 'one', term: 1, expires: new Date('9999-01-01'), pass },
    });
    const admin = new AdminConsole(database.uri);
    expect((await admin.json<Status>('status')).watcher.pass).toMatchObject({ done: 1500, total: 6000 });
    expect((await admin.run('status')).output).toContain(
      'Pass        25 %, 1,500 of about 6,000 records and ledger entries, ' +
        'since 1970-01-01T00:00:00.000Z: drop of products',
    );
  });

  it('where the audit stands, and up to where hard deletes have expired', async () => {
    const audit = {
      round: 2,
      kind: 'product',
      slices: 7,
      lastRoundSeconds: 120,
      roundSeconds: 130,
      found: 0,
    };
    await put('tidemark.audits', { _id: 'ledger', ...audit });
    await put('tidemark.horizons', { _id: 'tombstones', ...{ lastupdated: new Date('2026-01-01') } });
    const admin = new AdminConsole(database.uri);
    expect(await admin.json<Status>('status')).toMatchObject({
      audit,
      hardDeletesExpired: '2026-01-01T00:00:00.000Z',
    });
    const { output } = await admin.run('status');
    expect(output).toContain('round 2, now at kind product, 7 slices done, a round takes 2 min');
    expect(output).toContain('those up to 2026-01-01T00:00:00.000Z are not kept');
  });
});

describe('`status` where no service ever ran', () => {
  it('exits 0, says so, and makes nothing', async () => {
    const { uri, db, client } = await freshDatabase();
    const { code, output } = await new AdminConsole(uri).run('status');
    expect(code).toBe(0);
    expect(output).toContain('no instance leads: is the service running?');
    expect(output).toContain('missing: ');
    expect(await db.listCollections().toArray()).toEqual([]);
    await client.close();
  });
});

describe('a database that does not answer', () => {
  it('is one line on stderr and exit code 1', async () => {
    const away = new AdminConsole('mongodb://127.0.0.1:1/tidemark?serverSelectionTimeoutMS=200');
    expect(await away.failure('status')).toMatch(
      /^The database does not answer: .* Is it running, and is MONGODB_URI right/,
    );
  });

  it('says which name of the replica set is wrong and which is right', async () => {
    const { uri, client } = await freshDatabase();
    const { setName } = await client.db('admin').command({ hello: 1 });
    await client.close();
    const url = new URL(uri);
    url.searchParams.set('replicaSet', 'wrong');
    url.searchParams.set('serverSelectionTimeoutMS', '500');
    url.searchParams.delete('directConnection');
    expect(await new AdminConsole(url.href).failure('status')).toBe(
      `The server at ${url.host} belongs to the replica set "${setName}", and MONGODB_URI names "wrong". ` +
        `Write replicaSet=${setName} there.`,
    );
  });
});
