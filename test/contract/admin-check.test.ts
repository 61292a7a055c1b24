import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { mongo } from 'mongoose';
import { eventually, freshDatabase, TestService } from '../support/index.js';
import { startLocked, startOwn } from '../support/own-mongod.js';
import { privilegesOf, runRolesScript, setPrivileges } from '../support/roles.js';
import { TLS_IDENTITY } from '../support/tls-identity.js';
import { AdminConsole } from './admin-console.js';

interface Finding {
  check: string;
  state: 'ok' | 'warning' | 'failed';
  text: string;
  details: string[];
}
interface Checked {
  isOk: boolean;
  checks: Finding[];
}

const ALL = ['settings', 'database', 'roles', 'indexes', 'clocks', 'watcher', 'kinds'];

/** What `check --json` finds, with its exit code. */
async function checked(
  uri: string,
): Promise<{ code: number; states: Record<string, string>; of: Record<string, Finding> }> {
  const { code, output } = await new AdminConsole(uri).run('check --json');
  const { checks, isOk } = JSON.parse(output) as Checked;
  expect(isOk).toBe(code === 0);
  const by = <T>(value: (one: Finding) => T) =>
    Object.fromEntries(checks.map((one) => [one.check, value(one)]));
  return { code, states: by(({ state }) => state), of: by((one) => one) };
}

describe('`check` tries settings, database, roles, indexes, clocks, the watcher and the kinds', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  it('one line for each, and exit code 0 where nothing failed', async () => {
    const roles = new URL(service.uri).username === '' ? 'warning' : 'ok';
    const { code, output, errors } = await new AdminConsole(service.uri).run('check');
    expect([code, errors]).toEqual([0, []]);
    const lines = output.split('\n').map((line) => /^\w+ +(?:ok|warning|failed)(?=: )/.exec(line)?.[0]);
    expect(lines.map((line) => line?.toLowerCase().split(/ +/))).toEqual(
      ALL.map((name) => [name, name === 'roles' ? roles : 'ok']),
    );
    expect(output).toMatch(/^Database +ok: t\w+ answers, MongoDB \d+\.\d+\.\d+, replica set \w+$/m);
    expect(output).toMatch(/^Watcher +ok: \S+ leads, \d+ s behind$/m);
  });

  it('of all indexes that the service makes', async () => {
    const collections = await service.db.collections();
    const made = await Promise.all(collections.map(async (one) => (await one.indexes()).length - 1));
    const { uri, client } = await freshDatabase();
    await client.close();
    const count = made.reduce((sum, number) => sum + number, 0);
    expect((await checked(uri)).of['indexes']?.text).toBe(
      `the first start of the service creates all ${count}`,
    );
  });

  it('changes nothing in the database', async () => {
    const { uri, client, db } = await freshDatabase();
    const { code, states } = await checked(uri);
    expect([code, states['indexes'], states['watcher']]).toEqual([0, 'warning', 'warning']);
    expect(await db.listCollections().toArray()).toEqual([]);
    await client.close();
  });

  it('without a login, where the database wants none, is a warning', async () => {
    const open = await startOwn();
    const { states, of } = await checked(open.uri);
    expect([states['roles'], of['roles']?.text]).toEqual([
      'warning',
      'this database does not require authentication',
    ]);
    await open.stop();
  });

  it('a database that does not answer fails, and exit code 1 comes with one line on stderr', async () => {
    const { code, output, errors } = await new AdminConsole('mongodb://127.0.0.1:9/x').run('check');
    expect([code, errors]).toEqual([1, ['Failed: database.']]);
    expect(output).toMatch(/^Database +failed: it does not answer: /m);
    expect(output).not.toMatch(/Roles|Indexes/);
  });

  it('a certificate that this machine does not trust is said with the option that is missing', async () => {
    // The handshake ends before a byte of MongoDB's protocol.
    const server = createServer(TLS_IDENTITY).on('tlsClientError', () => {});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const console = new AdminConsole(`mongodb://127.0.0.1:${port}/x?tls=true`);
    const { output } = await console.run('check');
    const said = await console.failure('status');
    server.close();
    for (const words of [output, said]) {
      expect(words).toContain('is not signed by an authority that this machine trusts');
      expect(words).toContain('in MONGODB_URI, such as tlsCAFile=/etc/tidemark/ca.pem');
    }
  });

  it('a server that requires TLS is said with the option that is missing', async () => {
    // As mongod with --tlsMode requireTLS does, it closes a connection on which it reads anything else.
    const server = createServer(TLS_IDENTITY).on('tlsClientError', () => {});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const console = new AdminConsole(`mongodb://127.0.0.1:${port}/x`);
    const { output } = await console.run('check');
    const said = await console.failure('status');
    server.close();
    for (const words of [output, said])
      expect(words).toContain('if it requires TLS, add tls=true to MONGODB_URI');
  });

  it('so does a setting that cannot be read, before anything else', async () => {
    const { code, output } = await new AdminConsole('nonsense').run('check');
    expect(code).toBe(1);
    expect(output).toMatch(/^Settings +failed: MONGODB_URI /);
    expect(output.split('\n')).toHaveLength(1);
  });
});

describe('the indexes', () => {
  const NAME = 'organizationid_1_appid_1__id_1';
  let service: TestService;
  let products: mongo.Collection;

  beforeAll(async () => {
    service = await TestService.start();
    products = service.db.collection('products');
    await products.insertOne({});
    // No instance runs, so a missing index is not made again.
    await service.leave();
  });
  afterAll(() => service.stop());

  const found = async () => (await checked(service.uri)).of['indexes'];
  const NAMED = 'products: organizationid, appid, _id';

  it('hidden', async () => {
    await service.db.command({ collMod: 'products', index: { name: NAME, hidden: true } });
    expect(await found()).toMatchObject({
      state: 'failed',
      details: [expect.stringContaining(`${NAMED} is hidden`)],
    });
  });

  it('missing', async () => {
    await products.dropIndex(NAME);
    expect(await found()).toMatchObject({
      state: 'failed',
      details: [expect.stringContaining(`${NAMED} is missing`)],
    });
  });

  it('being built is a warning', async () => {
    const session = service.client.startSession();
    session.startTransaction();
    await products.updateOne({}, { $set: { held: true } }, { session });
    // As the service does: builds of other users are not shown.
    const own = await new mongo.MongoClient(service.uri).connect();
    const built = own.db().collection('products').createIndex({ organizationid: 1, appid: 1, _id: 1 });
    await eventually(async () => (await found())?.state === 'warning');
    expect((await found())?.details).toEqual([`${NAMED} is being built.`]);
    await session.abortTransaction();
    await session.endSession();
    await built;
    await own.close();
    expect(await found()).toMatchObject({ state: 'ok' });
  });

  it('another one that is in the way', async () => {
    await products.dropIndex(NAME);
    await products.createIndex({ other: 1 }, { name: NAME });
    expect(await found()).toMatchObject({
      state: 'failed',
      details: [
        expect.stringMatching(
          new RegExp(`^${NAMED} is missing: The index ${NAME} of products .* Drop it\\.$`),
        ),
      ],
    });
  });

  it('nobody leads: the watcher fails', async () => {
    const { states, of } = await checked(service.uri);
    expect(states['watcher']).toBe('failed');
    expect(of['watcher']?.text).toContain('no instance leads');
  });
});

describe('the roles', () => {
  let locked: Awaited<ReturnType<typeof startLocked>>;
  let root: mongo.MongoClient;

  beforeAll(async () => {
    const readWrite = { role: 'readWrite', db: 'tidemark' };
    locked = await startLocked([
      { name: 'plain', roles: [readWrite] },
      { name: 'stranger', roles: [] },
    ]);
    root = await new mongo.MongoClient(locked.as('root')).connect();
    await runRolesScript(root, { database: 'tidemark', role: 'tidemark', user: 'tidemark' });
  });
  afterAll(async () => {
    await root.close();
    await locked.stop();
  });

  it('docs/roles.js has all that is needed', async () => {
    expect((await checked(locked.as('tidemark'))).of['roles']).toMatchObject({ state: 'ok', details: [] });
  });

  it('each missing action is named, with what is lost; docs/roles.js has none that is not needed', async () => {
    const all = await privilegesOf(root, 'tidemark');
    const named: string[] = [];
    for (const { resource, actions } of all)
      for (const action of actions) {
        const less = all.map((one) =>
          one.resource === resource
            ? { resource, actions: actions.filter((other) => other !== action) }
            : one,
        );
        await setPrivileges(
          root,
          'tidemark',
          less.filter((one) => one.actions.length > 0),
        );
        const { code, of } = await checked(locked.as('tidemark'));
        const { state, details = [] } = of['roles'] ?? {};
        expect(details).toEqual([
          expect.stringMatching(new RegExp(`^${action} on [\\w. ]+ is missing: .+\\.$`)),
        ]);
        expect(code).toBe(state === 'failed' ? 1 : 0);
        named.push(`${state} ${details[0]?.split(' is missing')[0]}`);
      }
    await setPrivileges(root, 'tidemark', all);
    expect(named.sort()).toEqual([
      ...[
        'changeStream',
        'createIndex',
        'find',
        'insert',
        'listCollections',
        'listIndexes',
        'remove',
        'update',
      ].map((action) => `failed ${action} on the database tidemark`),
      'warning bypassDocumentValidation on tidemark.members',
      'warning bypassDocumentValidation on tidemark.products',
      'warning collMod on the database tidemark',
      'warning collStats on local.oplog.rs',
      'warning getParameter on the cluster',
      'warning serverStatus on the cluster',
    ]);
  });

  it('readWrite lacks only what the service can do without; root lacks nothing', async () => {
    const { code, of } = await checked(locked.as('plain'));
    expect([code, of['roles']?.state, of['roles']?.details.length]).toEqual([0, 'warning', 6]);
    expect((await checked(locked.as('root'))).states['roles']).toBe('ok');
  });

  it('a user without rights, and nobody, fail in each line that they may not look at', async () => {
    const stranger = await checked(locked.as('stranger'));
    expect(stranger.code).toBe(1);
    expect(stranger.of['roles']?.details).toHaveLength(14);
    expect(stranger.of['indexes']?.text).toBe(
      'the user of MONGODB_URI lacks a right to read this: see Roles',
    );
    const nobody = await checked(`${locked.uri}?directConnection=true`);
    expect(nobody.states).toMatchObject({ roles: 'failed', indexes: 'failed', watcher: 'failed' });
  });

  it('a wrong password is one line', async () => {
    const { code, of } = await checked(locked.as('plain').replace('plain@', 'wr0ng@'));
    expect([code, Object.keys(of)]).toEqual([1, ['settings', 'database']]);
    expect(of['database']?.text).toContain('refuses the user name or the password in MONGODB_URI');
  });

  it('`status` says which action hides how far the oplog reaches back', async () => {
    const { output } = await new AdminConsole(locked.as('plain')).run('status');
    expect(output).toMatch(/^Oplog +.*serverStatus on the cluster is missing/m);
  });
});
