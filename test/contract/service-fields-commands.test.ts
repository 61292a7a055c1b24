import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { mongo } from 'mongoose';
import { send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { FieldsSetting } from './fields-setting.js';

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;
let on: FieldsSetting;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => {
  app = await service.application();
  on = await FieldsSetting.of(service, app);
});

describe('Commands', () => {
  it('service set sets, keeps and removes fields, and service list shows them', async () => {
    const path = join(tmpdir(), `tidemark-only-${app.appid}.json`);
    await writeFile(path, '\uFEFF{"only": ["data.a", "data.b"]}');
    const filter = ['--filter', '{"data.c": 1}'];
    const first = ['--fields', `@${path}`, '--hash', 'data.x,data.y', '--allow-hidden-filter'];
    const json = await admin.json<mongo.Document>(on.set('erp', ...filter, ...first));
    const wanted = {
      fields: { only: ['data.a', 'data.b'] },
      hash: ['data.x', 'data.y'],
      allowHiddenFilter: true,
    };
    expect(json).toMatchObject(wanted);
    expect(await on.stored('erp')).toMatchObject(wanted);
    const listed = await admin.json<mongo.Document[]>(on.words('service list'));
    expect(listed).toEqual([expect.objectContaining({ ...wanted, state: 'on' })]);
    expect((await admin.run(on.words('service list'))).output).toContain('"hash":["data.x","data.y"]');
    await admin.run(on.set('erp', ...filter, '--hash', '["data.z"]'));
    expect(await on.stored('erp')).toMatchObject({ ...wanted, hash: ['data.z'] });
    expect(await admin.failure(on.set('erp', ...filter, '--refuse-hidden-filter'))).toMatch(
      /^The filter uses /,
    );
    await admin.run(on.set('erp', ...filter, '--fields', 'none', '--hash', 'none', '--refuse-hidden-filter'));
    expect(Object.keys((await on.stored('erp'))!)).toEqual(expect.not.arrayContaining(Object.keys(wanted)));
  });

  it('the wrong options', async () => {
    expect(await admin.failure(on.set('erp', '--filter', '{}', '--fields', '{'))).toContain(
      '--fields is not JSON',
    );
    for (const [fields, said] of [
      ['{"only": ["data.a", "data..b"]}', /^--fields \/only\/1 /],
      ['{"only": [], "except": []}', /^--fields has both /],
    ] as const) {
      expect(await admin.failure(on.set('erp', '--filter', '{}', '--fields', fields))).toMatch(said);
      const preview = on.words('service preview', '--kind', 'product', '--filter', '{}', '--fields', fields);
      expect(await admin.failure(preview)).toMatch(said);
    }
    expect(await admin.failure(on.set('erp', '--filter', '{}', '--hash', 'data.a,id'))).toMatch(
      /^--hash \/1 /,
    );
    const both = await admin.run(
      on.set('erp', '--filter', '{}', '--allow-hidden-filter', '--refuse-hidden-filter'),
    );
    expect(both).toMatchObject({ code: 1 });
    expect(await admin.failure(on.set('erp', '--fields', '{"except": ["data.a"]}'))).toContain(
      '--filter is missing',
    );
  });

  it('service list says of a service by hand whether it is valid', async () => {
    await app.filter('product', 'a', { 'data.a': 1 }, { fields: { except: ['data.a'] } });
    await app.filter('product', 'b', {}, { fields: { exept: [] } });
    await app.filter('product', 'default', { $where: 1 }, { hash: ['data.a'] });
    const listed = await admin.json<{ state: string }[]>(on.words('service list'));
    expect(listed.map(({ state }) => state)).toEqual(['not valid', 'not valid', 'on']);
  });
});

describe('A configuration', () => {
  it('describes the fields completely: omitted ones are removed', async () => {
    const fields = { except: ['data.a'] };
    await admin.run(await on.apply({ name: 'erp', filter: {}, fields, hash: ['data.b'] }));
    expect(await on.stored('erp')).toMatchObject({ fields, hash: ['data.b'] });
    const exported = await admin.json<{ applications: { services: object[] }[] }>(on.words('config export'));
    expect(exported.applications[0]?.services).toEqual([
      { kind: 'product', name: 'erp', filter: {}, fields, hash: ['data.b'] },
    ]);
    const same = on.words('config plan', await on.file(exported.applications[0]!.services));
    expect((await admin.run(same)).output).toMatch(/^Nothing changes\./);
    await admin.run(await on.apply({ name: 'erp', filter: {} }));
    expect(await on.stored('erp')).toEqual({ ...app.tenant, kind: 'product', name: 'erp', filter: {} });
  });

  it('null is no value', async () => {
    const refused = await admin.failure(await on.apply({ name: 'erp', filter: {}, fields: null }));
    expect(refused).toContain('/services/0/fields is not a document such as');
  });

  it('leaves out a service by hand that is not valid', async () => {
    await app.filter('product', 'a', { 'data.a': 1 }, { fields: { except: ['data.a'] } });
    expect((await admin.run(on.words('config export'))).output).toMatch(
      /# Not part of it: product service "a" of .+: filter The filter uses data.a/,
    );
  });
});

describe('application rekey', () => {
  const key = () => service.db.collection('tidemark.hashkeys').findOne(app.tenant);

  it('delivers all hashed values again, by command and by HTTP, and is in the audit trail', async () => {
    await app.product({ id: 'a', data: { n: 1 } });
    await on.put('erp', { filter: {}, hash: ['data.n'] });
    await service.watcher.caughtUp();
    const hashes = new Set<unknown>();
    const hashed = async () => {
      await service.watcher.caughtUp();
      const [item] = await app.feed('product', 'erp').drain();
      hashes.add((item as unknown as { data: { n: unknown } }).data.n);
    };
    await hashed();
    const said = await admin.run(on.words('application rekey'));
    expect(said).toMatchObject({ code: 0, output: expect.stringContaining('will be delivered again') });
    await hashed();
    expect((await on.ask('POST', 'hashkey/rotate')).status).toBe(204);
    await hashed();
    expect(hashes.size).toBe(3);
    const trail = service.db.collection('tidemark.audittrail');
    expect(await trail.countDocuments({ ...app.tenant, action: 'application.rekey' })).toBe(2);
  });

  it('of an application that does not exist is refused', async () => {
    const elsewhere = ['application', 'rekey', '--org', 'no', '--app', 'where'];
    expect(await admin.failure(elsewhere)).toContain('There is no application no/where');
    const root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
    const path = `${service.url}/admin/v1/applications/no/where/hashkey/rotate`;
    expect((await send(path, 'POST', { user: root })).status).toBe(404);
  });

  it('the key goes with its application', async () => {
    const ways = [
      () => Promise.resolve(on.words('application remove')),
      async () => on.words('config apply', await emptied(), '--prune', '--yes'),
    ];
    for (const remove of ways) {
      app = await service.application();
      on = await FieldsSetting.of(service, app);
      await admin.run(on.words('application rekey'));
      expect(await key()).not.toBeNull();
      expect((await admin.run(await remove())).code).toBe(0);
      expect(await key()).toBeNull();
    }
  });

  async function emptied(): Promise<string> {
    const path = join(tmpdir(), `tidemark-none-${app.appid}.json`);
    await writeFile(path, '{"applications": [], "credentials": []}');
    return path;
  }
});
