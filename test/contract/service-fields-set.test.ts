import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { mongo } from 'mongoose';
import { type Answer, eventually, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => {
  app = await service.application();
  root = await app.credential({ level: 'admin' });
});

const services = () => service.db.collection('services');
const stored = (name: string) => services().findOne({ ...app.tenant, name }, { projection: { _id: 0 } });
const url = (path: string) =>
  `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}/${path}`;
const put = (name: string, body: object, headers = {}): Promise<Answer> =>
  send(url(`services/product/${name}`), 'PUT', { user: root, body, headers });
const get = (path: string) => send(url(path), 'GET', { user: root });
const words = (command: string, ...more: string[]) => [
  ...command.split(' '),
  ...['--org', app.organizationid, '--app', app.appid],
  ...more,
];
const set = (name: string, ...more: string[]) =>
  words('service set', '--kind', 'product', '--name', name, ...more);

async function file(services: object[]): Promise<string> {
  const path = join(tmpdir(), `tidemark-fields-${app.appid}.json`);
  const { organizationid, appid } = app;
  await writeFile(path, JSON.stringify({ applications: [{ organizationid, appid, services }] }, null, 1));
  return path;
}
const apply = async (...more: object[]) =>
  words('config apply', await file(more.map((one) => ({ kind: 'product', ...one }))), '--yes');

/** The answer of a credential that may change everything to a configuration with one service. */
async function applied(one: object): Promise<Answer> {
  const body = {
    applications: [{ ...app.tenant, services: [{ kind: 'product', ...one }] }],
  };
  return send(`${service.url}/admin/v1/configuration/apply`, 'POST', { user: root, body });
}

interface Wrong {
  filter?: object;
  fields?: unknown;
  hash?: unknown;
  allowHiddenFilter?: unknown;
}

const LONG = `data.${'x'.repeat(1000)}`;
const WRONG: [string, Wrong, string, string][] = [
  ['no object', { fields: 'data.a' }, '/fields', 'is not such as {"except": ["data.email"]}'],
  ['a list', { fields: [] }, '/fields', 'is not such as'],
  ['an unknown property', { fields: { exept: ['data.a'] } }, '/fields/exept', 'is an unknown property'],
  ['only beside except', { fields: { only: ['data.a'], except: ['data.b'] } }, '/fields', 'has both'],
  ['no list', { fields: { except: 'data.a' } }, '/fields/except', 'is not a list of paths'],
  ['a path that is no path', { fields: { except: ['data.a', 'a'] } }, '/fields/except/1', 'is not a path'],
  ['a path that is no text', { fields: { only: [5] } }, '/fields/only/0', 'is not a path'],
  ['an empty part', { fields: { only: ['data..a'] } }, '/fields/only/0', 'is not a path'],
  ['a path that hides id', { fields: { except: ['id'] } }, '/fields/except/0', 'stays in every item'],
  ['a path of 11 parts', { hash: [`data${'.a'.repeat(10)}`] }, '/hash/0', 'has 11 parts'],
  ['a name with $', { hash: ['data.$a'] }, '/hash/0', 'begins with "$"'],
  [
    'more than 200 paths',
    { fields: { except: Array.from({ length: 201 }, (_, index) => `data.n${index}`) } },
    '/fields/except',
    'has 201 paths',
  ],
  [
    'more than 64 KiB',
    { fields: { except: Array.from({ length: 100 }, (_, index) => `${LONG}${index}`) } },
    '/fields',
    'must be smaller than 65536',
  ],
  ['a hash that is no list', { hash: 5 }, '/hash', 'is not a list of paths'],
  [
    'hashed and left out',
    { hash: ['data.a.b'], fields: { except: ['data.a'] } },
    '/hash',
    'keep one of them',
  ],
  ['a flag that is none', { allowHiddenFilter: 'yes' }, '/allowHiddenFilter', 'is not true or false'],
  [
    'a filter on a hidden field',
    { filter: { $or: [{ 'data.a': 'canary-77' }, { id: 'a' }] }, fields: { except: ['data.a'] } },
    '/filter',
    'looks at $or[0].data.a, which the service hides',
  ],
  ['a filter on a hashed field', { filter: { 'data.a': 1 }, hash: ['data.a'] }, '/filter', 'looks at data.a'],
  [
    'a filter around a hidden field',
    { filter: { 'data.a': { $exists: true } }, fields: { except: ['data.a.b'] } },
    '/filter',
    'looks at data.a',
  ],
];

describe('Bad input: 400 with the place, nothing stored, by every way of writing it', () => {
  const FILTER = { id: 'a' };

  it.each(WRONG)('%s', async (_name, wrong, pointer, sentence) => {
    const body = { filter: FILTER, ...wrong };
    const trail = () => service.db.collection('tidemark.audittrail').countDocuments(app.tenant);
    const before = await trail();
    for (const { status, json, text } of [
      await put('bad', body),
      await put('bad', body, { 'if-none-match': '*' }),
      await applied({ name: 'bad', ...body }),
      await send(url('preview/product'), 'POST', { user: root, body }),
    ]) {
      const { errors } = json as { errors: { pointer: string; detail: string }[] };
      expect([status, errors[0]?.pointer.replace('/applications/0/services/0', '')]).toEqual([400, pointer]);
      expect(errors[0]?.detail).toContain(sentence);
      expect(text).not.toContain('canary-77');
    }
    const inFile = await admin.failure(await apply({ name: 'bad', ...body }));
    expect(inFile).toMatch(/^Line \d+: \/applications\/0\/services\/0/);
    expect(inFile).toContain(sentence);
    expect(await stored('bad')).toBeNull();
    expect(await trail()).toBe(before);
  });

  it.each(WRONG.filter(([, { allowHiddenFilter }]) => allowHiddenFilter === undefined))(
    'by command: %s',
    async (_name, { filter = FILTER, fields, hash }, pointer, sentence) => {
      const options = [
        ...(fields === undefined ? [] : ['--fields', JSON.stringify(fields)]),
        ...(hash === undefined ? [] : ['--hash', JSON.stringify(hash)]),
      ];
      const isJson = hash === undefined || Array.isArray(hash);
      const filtered = [...options, '--filter', JSON.stringify(filter)];
      const said = await admin.failure(set('bad', ...filtered));
      if (isJson) expect(said).toContain(`${pointer} `);
      if (isJson) expect(said).toContain(sentence);
      expect(await admin.failure(words('service preview', '--kind', 'product', ...filtered))).toBe(said);
      expect(await stored('bad')).toBeNull();
    },
  );

  it('what conflicts with what is stored and stays', async () => {
    await app.filter('product', 'erp', FILTER, { fields: { except: ['data.a'] }, hash: ['data.b'] });
    for (const [body, pointer] of [
      [{ filter: { 'data.a': 1 } }, '/filter'],
      [{ filter: { 'data.b': 1 } }, '/filter'],
      [{ filter: FILTER, fields: { except: ['data.b'] } }, '/hash'],
      [{ filter: FILTER, hash: ['data.a'] }, '/hash'],
    ] as const) {
      const { status, json } = await put('erp', body);
      expect({ status, json }).toMatchObject({ status: 400, json: { errors: [{ pointer }] } });
      const etag = (await get('services/product/erp')).headers.get('etag')!;
      expect((await put('erp', body, { 'if-match': etag })).status).toBe(400);
    }
    expect(await admin.failure(set('erp', '--filter', '{"data.a": 1}'))).toContain('"allowHiddenFilter"');
    expect(await stored('erp')).toMatchObject({ filter: FILTER, fields: { except: ['data.a'] } });
    expect(
      (await put('erp', { filter: { 'data.a': 1 }, fields: { only: ['data.a'] }, hash: null })).status,
    ).toBe(200);
  });
});

describe('PUT of a service', () => {
  it('shows what it was set to, there and in the list, and only that', async () => {
    const { status, json } = await put('erp', {
      filter: { 'data.a': 1 },
      fields: { except: ['data.a', 'createdBy'] },
      hash: ['data.b'],
      allowHiddenFilter: true,
    });
    expect(status).toBe(200);
    const shown = {
      ...{ organizationid: app.organizationid, appid: app.appid, kind: 'product', name: 'erp' },
      ...{ filter: { 'data.a': 1 }, enabled: true, hash: ['data.b'], allowHiddenFilter: true },
      fields: { except: ['data.a', 'createdBy'] },
    };
    expect(json).toEqual(shown);
    expect((await get('services/product/erp')).json).toEqual(shown);
    await put('plain', { filter: {} });
    const { result } = (await get('services')).json as { result: object[] };
    expect(result[0]).toEqual(shown);
    expect(Object.keys(result[1]!)).toEqual(Object.keys(shown).slice(0, 6));
  });

  it('keeps what it omits, and null removes it', async () => {
    await put('erp', { filter: { id: 'a' }, fields: { except: ['data.a'] }, hash: ['data.b'] });
    await put('erp', { filter: { id: 'b' } });
    expect(await stored('erp')).toMatchObject({ fields: { except: ['data.a'] }, hash: ['data.b'] });
    await put('erp', { filter: { id: 'b' }, fields: null });
    expect(await stored('erp')).toEqual({
      ...{ ...app.tenant, kind: 'product', name: 'erp', filter: { id: 'b' }, hash: ['data.b'] },
    });
    await put('erp', { filter: { id: 'b' }, hash: null, allowHiddenFilter: null });
    expect(Object.keys((await stored('erp'))!)).not.toContain('hash');
  });

  it('takes effect in the feeds', async () => {
    await app.product({ id: 'a', data: { a: 1, b: 2 } });
    await put('erp', { filter: {}, fields: { only: ['data.b'] } });
    const data = async () =>
      ((await app.feed('product', 'erp').drain())[0] as unknown as mongo.Document)['data'];
    await eventually(async () => (await app.feed('product', 'erp').ask()).status === 200);
    expect(await data()).toEqual({ b: 2 });
  });

  it('many at once never leave a filter on a hidden field', async () => {
    await put('erp', { filter: { id: 'a' }, hash: ['data.b'] });
    const edits = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? put('erp', { filter: { 'data.a': index } })
        : put('erp', { filter: { id: 'a' }, fields: { except: ['data.a'] } }),
    );
    const statuses = (await Promise.all(edits)).map(({ status }) => status);
    expect(statuses).toContain(200);
    const { filter, fields } = (await stored('erp'))!;
    expect('data.a' in filter && fields !== undefined).toBe(false);
  });
});

describe('The service default', () => {
  const FIELDS = { except: ['data.secret'] };

  it('has fields and no filter; it can be disabled and removed', async () => {
    await app.product({ id: 'a', data: { secret: 1 } });
    const data = async () => {
      await service.watcher.caughtUp();
      return ((await app.feed('product').drain())[0] as unknown as mongo.Document)['data'] as object;
    };
    for (const body of [{ fields: FIELDS }, { filter: {}, fields: FIELDS }]) {
      const { status, json } = await put('default', body);
      expect({ status, json }).toMatchObject({ status: 200, json: { filter: {}, fields: FIELDS } });
      expect(Object.keys((await stored('default'))!)).not.toContain('filter');
    }
    expect(await data()).toEqual({});
    expect((await get('services/product/default')).json).toMatchObject({ filter: {}, fields: FIELDS });
    expect((await put('default', { enabled: false })).json).toMatchObject({ enabled: false, fields: FIELDS });
    expect(await data()).toEqual({ secret: 1 });
    await put('default', { enabled: true });
    expect(await data()).toEqual({});
    expect((await send(url('services/product/default'), 'DELETE', { user: root })).status).toBe(204);
    expect(await data()).toEqual({ secret: 1 });
  });

  it.each([[{}], [{ filter: {} }], [{ filter: { a: 1 } }], [{ filter: { a: 1 }, fields: FIELDS }]])(
    '%j is the 400 of a reserved name',
    async (body) => {
      const { status, text } = await put('default', body);
      expect(status).toBe(400);
      expect(text).toContain('is reserved');
      expect(await stored('default')).toBeNull();
    },
  );

  it('by command and in the configuration file', async () => {
    expect((await admin.run(set('default', '--fields', JSON.stringify(FIELDS)))).code).toBe(0);
    expect(await stored('default')).toMatchObject({ fields: FIELDS });
    const exported = (await admin.run(words('config export'))).output;
    expect(exported).toMatch(/name: default\n\s+fields:\n\s+except:\n\s+- data.secret/);
    expect((await admin.run(await apply({ name: 'default', hash: ['data.n'] }))).code).toBe(0);
    expect(await stored('default')).toEqual({
      ...app.tenant,
      kind: 'product',
      name: 'default',
      hash: ['data.n'],
    });
    expect(await admin.failure(await apply({ name: 'default', filter: { a: 1 } }))).toContain('is reserved');
    const previewed = words('service preview', '--kind', 'product', '--name', 'default', '--fields', 'none');
    expect((await admin.run([...previewed, '--hash', 'none'])).code).toBe(0);
    expect((await admin.run(words('service remove', '--kind', 'product', '--name', 'default'))).code).toBe(0);
    expect(await stored('default')).toBeNull();
  });
});

describe('Commands', () => {
  it('service set sets, keeps and removes fields, and service list shows them', async () => {
    const path = join(tmpdir(), `tidemark-only-${app.appid}.json`);
    await writeFile(path, '\uFEFF{"only": ["data.a", "data.b"]}');
    const filter = ['--filter', '{"data.c": 1}'];
    const first = ['--fields', `@${path}`, '--hash', 'data.x,data.y', '--allow-hidden-filter'];
    const json = await admin.json<mongo.Document>(set('erp', ...filter, ...first));
    const wanted = {
      fields: { only: ['data.a', 'data.b'] },
      hash: ['data.x', 'data.y'],
      allowHiddenFilter: true,
    };
    expect(json).toMatchObject(wanted);
    expect(await stored('erp')).toMatchObject(wanted);
    const listed = await admin.json<mongo.Document[]>(words('service list'));
    expect(listed).toEqual([expect.objectContaining({ ...wanted, state: 'on' })]);
    expect((await admin.run(words('service list'))).output).toContain('"hash":["data.x","data.y"]');
    await admin.run(set('erp', ...filter, '--hash', '["data.z"]'));
    expect(await stored('erp')).toMatchObject({ ...wanted, hash: ['data.z'] });
    expect(await admin.failure(set('erp', ...filter, '--refuse-hidden-filter'))).toContain('/filter ');
    await admin.run(set('erp', ...filter, '--fields', 'none', '--hash', 'none', '--refuse-hidden-filter'));
    expect(Object.keys((await stored('erp'))!)).toEqual(expect.not.arrayContaining(Object.keys(wanted)));
  });

  it('the wrong options', async () => {
    expect(await admin.failure(set('erp', '--filter', '{}', '--fields', '{'))).toContain(
      '--fields is not JSON',
    );
    const both = await admin.run(
      set('erp', '--filter', '{}', '--allow-hidden-filter', '--refuse-hidden-filter'),
    );
    expect(both).toMatchObject({ code: 1 });
    expect(await admin.failure(set('erp', '--fields', '{"except": ["data.a"]}'))).toContain(
      '--filter is missing',
    );
  });

  it('service list says of a service by hand whether it is valid', async () => {
    await app.filter('product', 'a', { 'data.a': 1 }, { fields: { except: ['data.a'] } });
    await app.filter('product', 'b', {}, { fields: { exept: [] } });
    await app.filter('product', 'default', { $where: 1 }, { hash: ['data.a'] });
    const listed = await admin.json<{ state: string }[]>(words('service list'));
    expect(listed.map(({ state }) => state)).toEqual(['not valid', 'not valid', 'on']);
  });
});

describe('A configuration', () => {
  it('describes the fields completely: omitted ones are removed', async () => {
    const fields = { except: ['data.a'] };
    await admin.run(await apply({ name: 'erp', filter: {}, fields, hash: ['data.b'] }));
    expect(await stored('erp')).toMatchObject({ fields, hash: ['data.b'] });
    const exported = await admin.json<{ applications: { services: object[] }[] }>(words('config export'));
    expect(exported.applications[0]?.services).toEqual([
      { kind: 'product', name: 'erp', filter: {}, fields, hash: ['data.b'] },
    ]);
    const same = words('config plan', await file(exported.applications[0]!.services));
    expect((await admin.run(same)).output).toMatch(/^Nothing changes\./);
    await admin.run(await apply({ name: 'erp', filter: {} }));
    expect(await stored('erp')).toEqual({ ...app.tenant, kind: 'product', name: 'erp', filter: {} });
  });

  it('null is no value', async () => {
    const refused = await admin.failure(await apply({ name: 'erp', filter: {}, fields: null }));
    expect(refused).toContain('/services/0/fields is not such as');
  });

  it('leaves out a service by hand that is not valid', async () => {
    await app.filter('product', 'a', { 'data.a': 1 }, { fields: { except: ['data.a'] } });
    expect((await admin.run(words('config export'))).output).toMatch(
      /# Not part of it: product service "a" of .+: filter The filter looks at data.a/,
    );
  });
});

describe('application rotate-hash-key', () => {
  const key = () => service.db.collection('tidemark.hashkeys').findOne(app.tenant);

  it('delivers all hashed values again, by command and by HTTP, and is in the audit trail', async () => {
    await app.product({ id: 'a', data: { n: 1 } });
    await put('erp', { filter: {}, hash: ['data.n'] });
    await service.watcher.caughtUp();
    const hashes = new Set<unknown>();
    const hashed = async () => {
      await service.watcher.caughtUp();
      const [item] = await app.feed('product', 'erp').drain();
      hashes.add((item as unknown as { data: { n: unknown } }).data.n);
    };
    await hashed();
    const said = await admin.run(words('application rotate-hash-key'));
    expect(said).toMatchObject({ code: 0, output: expect.stringContaining('will be delivered again') });
    await hashed();
    expect((await send(url('hashkey/rotate'), 'POST', { user: root })).status).toBe(204);
    await hashed();
    expect(hashes.size).toBe(3);
    const trail = service.db.collection('tidemark.audittrail');
    expect(await trail.countDocuments({ ...app.tenant, action: 'application.rotate-hash-key' })).toBe(2);
  });

  it('of an application that does not exist is refused', async () => {
    const elsewhere = ['application', 'rotate-hash-key', '--org', 'no', '--app', 'where'];
    expect(await admin.failure(elsewhere)).toContain('There is no application no/where');
    expect(
      (await send(`${url('hashkey/rotate').replace(app.appid, 'no')}`, 'POST', { user: root })).status,
    ).toBe(404);
  });

  it('the key goes with its application', async () => {
    for (const remove of [
      async () => words('application remove'),
      async () => words('config apply', await emptied(), '--prune', '--yes'),
    ]) {
      app = await service.application();
      await admin.run(words('application rotate-hash-key'));
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
