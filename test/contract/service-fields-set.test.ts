import type { mongo } from 'mongoose';
import { eventually, type TestApplication, TestService } from '../support/index.js';
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

interface Wrong {
  filter?: object;
  fields?: unknown;
  hash?: unknown;
  allowHiddenFilter?: unknown;
}

const LONG = `data.${'x'.repeat(1000)}`;
const WRONG: [string, Wrong, string, string][] = [
  ['no object', { fields: 'data.a' }, '/fields', 'is not a document such as {"except": ["data.email"]}'],
  ['a list', { fields: [] }, '/fields', 'is not a document such as'],
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
    'uses $or[0].data.a, which the service hides',
  ],
  ['a filter on a hashed field', { filter: { 'data.a': 1 }, hash: ['data.a'] }, '/filter', 'uses data.a'],
  [
    'a filter around a hidden field',
    { filter: { 'data.a': { $exists: true } }, fields: { except: ['data.a.b'] } },
    '/filter',
    'uses data.a',
  ],
];

describe('Bad input: 400 with the place, nothing stored, by every way of writing it', () => {
  const FILTER = { id: 'a' };

  it.each(WRONG)('%s', async (_name, wrong, pointer, sentence) => {
    const body = { filter: FILTER, ...wrong };
    const trail = () => service.db.collection('tidemark.audittrail').countDocuments(app.tenant);
    const before = await trail();
    for (const { status, json, text } of [
      await on.put('bad', body),
      await on.put('bad', body, { 'if-none-match': '*' }),
      await on.applied({ name: 'bad', ...body }),
      await on.ask('POST', 'preview/product', body),
    ]) {
      const { errors } = json as { errors: { pointer: string; detail: string }[] };
      expect([status, errors[0]?.pointer.replace('/applications/0/services/0', '')]).toEqual([400, pointer]);
      expect(errors[0]?.detail).toContain(sentence);
      expect(text).not.toContain('canary-77');
    }
    const inFile = await admin.failure(await on.apply({ name: 'bad', ...body }));
    expect(inFile).toMatch(/^Line \d+: \/applications\/0\/services\/0/);
    expect(inFile).toContain(sentence);
    expect(await on.stored('bad')).toBeNull();
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
      const said = await admin.failure(on.set('bad', ...filtered));
      const option = pointer.replace(
        /^\/(\w+)(\/?)/,
        (_, name: string, more) => `--${name}${more ? ' /' : ''}`,
      );
      const begin = pointer === '/filter' ? 'The filter' : option;
      if (isJson) expect(said.startsWith(`${begin} `) || said).toBe(true);
      if (isJson) expect(said).toContain(sentence);
      expect(await admin.failure(on.words('service preview', '--kind', 'product', ...filtered))).toBe(said);
      expect(await on.stored('bad')).toBeNull();
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
      const { status, json } = await on.put('erp', body);
      expect({ status, json }).toMatchObject({ status: 400, json: { errors: [{ pointer }] } });
      const etag = (await on.ask('GET', 'services/product/erp')).headers.get('etag')!;
      expect((await on.put('erp', body, { 'if-match': etag })).status).toBe(400);
    }
    expect(await admin.failure(on.set('erp', '--filter', '{"data.a": 1}'))).toContain('"allowHiddenFilter"');
    expect(await on.stored('erp')).toMatchObject({ filter: FILTER, fields: { except: ['data.a'] } });
    expect(
      (await on.put('erp', { filter: { 'data.a': 1 }, fields: { only: ['data.a'] }, hash: null })).status,
    ).toBe(200);
  });
});

describe('PUT of a service', () => {
  it('shows what it was set to, there and in the list, and only that', async () => {
    const { status, json } = await on.put('erp', {
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
    expect((await on.ask('GET', 'services/product/erp')).json).toEqual(shown);
    await on.put('plain', { filter: {} });
    const { result } = (await on.ask('GET', 'services')).json as { result: object[] };
    expect(result[0]).toEqual(shown);
    expect(Object.keys(result[1]!)).toEqual(Object.keys(shown).slice(0, 6));
  });

  it('keeps what it omits, and null removes it', async () => {
    await on.put('erp', { filter: { id: 'a' }, fields: { except: ['data.a'] }, hash: ['data.b'] });
    await on.put('erp', { filter: { id: 'b' } });
    expect(await on.stored('erp')).toMatchObject({ fields: { except: ['data.a'] }, hash: ['data.b'] });
    await on.put('erp', { filter: { id: 'b' }, fields: null });
    expect(await on.stored('erp')).toEqual({
      ...{ ...app.tenant, kind: 'product', name: 'erp', filter: { id: 'b' }, hash: ['data.b'] },
    });
    await on.put('erp', { filter: { id: 'b' }, hash: null, allowHiddenFilter: null });
    expect(Object.keys((await on.stored('erp'))!)).not.toContain('hash');
  });

  it('takes effect in the feeds', async () => {
    await app.product({ id: 'a', data: { a: 1, b: 2 } });
    await on.put('erp', { filter: {}, fields: { only: ['data.b'] } });
    const data = async () =>
      ((await app.feed('product', 'erp').drain())[0] as unknown as mongo.Document)['data'] as object;
    await eventually(async () => (await app.feed('product', 'erp').ask()).status === 200);
    expect(await data()).toEqual({ b: 2 });
  });

  it.each([
    ['hashes', ['data.b']],
    ['none', null],
  ])('two at once never leave a filter on a hidden field, of a service with %s', async (_name, hash) => {
    const filter = { 'data.a': 1 };
    const fields = { except: ['data.a'] };
    const both: unknown[] = [];
    for (let round = 0; round < 30; round += 1) {
      await on.put('erp', { filter: { id: 'a' }, fields: null, hash });
      await Promise.all([on.put('erp', { filter }), on.put('erp', { filter: { id: 'a' }, fields })]);
      const stored = (await on.stored('erp'))!;
      if ('data.a' in stored['filter'] && 'fields' in stored) both.push(round);
    }
    expect(both).toEqual([]);
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
      const { status, json } = await on.put('default', body);
      expect({ status, json }).toMatchObject({ status: 200, json: { filter: {}, fields: FIELDS } });
      expect(Object.keys((await on.stored('default'))!)).not.toContain('filter');
    }
    expect(await data()).toEqual({});
    expect((await on.ask('GET', 'services/product/default')).json).toMatchObject({
      filter: {},
      fields: FIELDS,
    });
    expect((await on.put('default', { enabled: false })).json).toMatchObject({
      enabled: false,
      fields: FIELDS,
    });
    expect(await data()).toEqual({ secret: 1 });
    await on.put('default', { enabled: true });
    expect(await data()).toEqual({});
    expect((await on.ask('DELETE', 'services/product/default')).status).toBe(204);
    expect(await data()).toEqual({ secret: 1 });
  });

  it.each([[{}], [{ filter: {} }], [{ filter: { a: 1 } }], [{ filter: { a: 1 }, fields: FIELDS }]])(
    '%j is the 400 of a reserved name',
    async (body) => {
      const { status, text } = await on.put('default', body);
      expect(status).toBe(400);
      expect(text).toContain('is reserved');
      expect(await on.stored('default')).toBeNull();
    },
  );

  it('by command and in the configuration file', async () => {
    expect((await admin.run(on.set('default', '--fields', JSON.stringify(FIELDS)))).code).toBe(0);
    expect(await on.stored('default')).toMatchObject({ fields: FIELDS });
    const exported = (await admin.run(on.words('config export'))).output;
    expect(exported).toMatch(/name: default\n\s+fields:\n\s+except:\n\s+- data.secret/);
    expect((await admin.run(await on.apply({ name: 'default', hash: ['data.n'] }))).code).toBe(0);
    expect(await on.stored('default')).toEqual({
      ...app.tenant,
      kind: 'product',
      name: 'default',
      hash: ['data.n'],
    });
    expect(await admin.failure(await on.apply({ name: 'default', filter: { a: 1 } }))).toContain(
      'is reserved',
    );
    const previewed = on.words(
      'service preview',
      '--kind',
      'product',
      '--name',
      'default',
      '--fields',
      'none',
    );
    expect((await admin.run([...previewed, '--hash', 'none'])).code).toBe(0);
    expect((await admin.run(on.words('service remove', '--kind', 'product', '--name', 'default'))).code).toBe(
      0,
    );
    expect(await on.stored('default')).toBeNull();
  });
});
