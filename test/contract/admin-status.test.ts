import { eventually, freshDatabase, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

interface Status {
  database: { name: string; version: string; replicaSet: string };
  missingIndexes: string[];
  watcher: { leader?: string; leaseExpires?: string; since?: string; lagSeconds?: number };
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
    const lease = await service.db.collection('leases').findOne();
    expect(watcher.leader).toBe(lease?.['holder']);
    expect(Date.parse(watcher.since ?? '')).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(watcher.leaseExpires ?? '')).not.toBeNaN();
    expect(watcher.lagSeconds).toBeGreaterThanOrEqual(0);
    expect((await admin.run('status')).output).toContain(
      `Watcher     ${watcher.leader} leads, since the pass of 20`,
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
    expect((await admin.run('status')).output).toContain('Indexes     all stand');
    await service.db.collection('products').dropIndex('organizationid_1_appid_1_channels_1');
    expect((await admin.json<Status>('status')).missingIndexes).toEqual([
      'products: organizationid, appid, channels',
    ]);
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
});

describe('`status` where no service ever ran', () => {
  it('exits 0, says so, and makes nothing', async () => {
    const { uri, db, client } = await freshDatabase();
    const { code, output } = await new AdminConsole(uri).run('status');
    expect(code).toBe(0);
    expect(output).toContain('nobody leads: is the service running?');
    expect(output).toContain('missing: ');
    expect(await db.listCollections().toArray()).toEqual([]);
    await client.close();
  });
});

describe('a database that does not answer', () => {
  it('is one line on stderr and exit code 1', async () => {
    const away = new AdminConsole('mongodb://127.0.0.1:1/tidemark?serverSelectionTimeoutMS=200');
    expect(await away.failure('status')).toMatch(/^The database does not answer: .* Is MONGODB_URI right/);
  });
});
