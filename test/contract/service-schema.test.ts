/** Contract §9: the schema of the items of a service. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import mongoose from 'mongoose';
import { eventually, expectProblem, type TestApplication, TestService } from '../support/index.js';
import { onceServed } from '../support/patience.js';
import { AdminConsole } from './admin-console.js';
import { CANARY, setService } from './shown-fields.js';
import { askSchema, dataIn, schemaOf, storedSchema, type ToldSchema, untilSchema } from './told-schema.js';

const { Binary, Decimal128, Long, ObjectId } = mongoose.mongo;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start({ SCHEMA_PAUSE_MS: '100' });
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

describe('the schema is a JSON Schema 2020-12 of the items of `updates`', () => {
  it('which accepts each of them, and has their types', async () => {
    const [at, oid] = [new Date(), new ObjectId()];
    const data = {
      ...{ at, oid, price: 1.5, count: 3, long: Long.fromString('9007199254740993'), on: true, none: null },
      ...{
        cost: Decimal128.fromString('1.10'),
        bytes: new Binary(Buffer.from('x')),
        tags: ['a'],
        rows: [{ n: 1 }],
      },
    };
    await app.product({ id: 'a', data });
    await app.product({ id: 'b', data: { price: 'free' }, channels: ['web'] });
    const schema = await untilSchema(app, (one) => one['x-tidemark-records'].count === 2);
    const types = Object.entries(dataIn(schema)).map(([name, { type, format }]) => [name, format ?? type]);
    expect(Object.fromEntries(types)).toEqual({
      ...{ at: 'date-time', oid: 'string', price: ['number', 'string'], count: 'integer', long: 'integer' },
      ...{ on: 'boolean', none: 'null', cost: 'string', bytes: 'string', tags: 'array', rows: 'array' },
    });
    const accepts = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    for (const item of await app.feed('product').drain()) expect(accepts(item) || accepts.errors).toBe(true);
    expect(accepts({ id: 'a' })).toBe(false);
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      'x-tidemark-records': { count: 2, sample: false },
    });
  });

  it('has no properties of data for a service without records', async () => {
    await app.filter('product', 'none', { 'data.never': 1 });
    for (const name of ['none', 'default']) {
      const schema = await schemaOf(app, name);
      expect(schema.properties!['data']).toEqual({ type: 'object' });
      expect(schema).toMatchObject({
        'x-tidemark-version': 1,
        'x-tidemark-records': { count: 0, sample: false },
      });
    }
  });

  it('has an ETag for If-None-Match, and its own content type', async () => {
    await app.product({ data: { n: 1 } });
    await service.watcher.caughtUp();
    await untilSchema(app, (one) => 'n' in dataIn(one));
    const first = await askSchema(app);
    expect(first.headers.get('content-type')).toBe('application/schema+json; charset=utf-8');
    const etag = first.headers.get('etag')!;
    const again = await askSchema(app, 'default', 'product', { 'If-None-Match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    await app.product({ data: { n: 1, more: 1 } });
    await eventually(
      async () => (await askSchema(app, 'default', 'product', { 'If-None-Match': etag })).status === 200,
    );
  });

  it('is of the records that match the filter, after the fields of the service', async () => {
    await app.product({ data: { n: 1, shown: 1, hidden: CANARY, hashed: CANARY, [CANARY]: 1 } });
    await app.product({ data: { n: 2, other: 1 } });
    await app.filter(
      'product',
      'erp',
      { 'data.n': 1 },
      {
        fields: { except: ['data.hidden', `data.${CANARY}`, 'createdBy', 'channels'] },
        hash: ['data.hashed'],
      },
    );
    const schema = await schemaOf(app, 'erp');
    expect(Object.keys(dataIn(schema))).toEqual(['hashed', 'n', 'shown']);
    expect(dataIn(schema)['hashed']!.type).toBe('string');
    expect(Object.keys(schema.properties!)).toEqual(['id', 'type', 'createDate', 'lastupdated', 'data']);
    expect(JSON.stringify([schema, await storedSchema(app, 'erp')])).not.toMatch(
      new RegExp(`${CANARY}|hidden`),
    );
  });

  it('never names a password hash, even where the application shows it', async () => {
    const of = { ...app.tenant };
    await service.db
      .collection('applications')
      .updateOne(of, { $set: { 'settings.replicatepasswordhash': true } });
    await app.member({ data: { email: 'a@example.org', passwordhash: CANARY } });
    await service.watcher.caughtUp();
    const schema = await schemaOf(app, 'default', 'member');
    expect(Object.keys(dataIn(schema))).toEqual(['email']);
  });
});

describe('of many records, it is from a sample', () => {
  it('of the newest and of all others', async () => {
    await app.products(1500, (index) => ({
      data: { n: index, ...(index % 3 === 0 && { some: 'x' }), byId: { [`k${index}x`]: { v: 1 } } },
    }));
    await app.product({ data: { newest: true } });
    await service.watcher.caughtUp();
    const schema = await untilSchema(app, (one) => 'newest' in dataIn(one));
    expect(schema['x-tidemark-records'].sample).toBe(true);
    expect(schema['x-tidemark-records'].count).toBeGreaterThan(400);
    const { byId, some, n } = dataIn(schema);
    expect([some!.type, n!.type]).toEqual(['string', 'integer']);
    expect(byId).toMatchObject({ additionalProperties: { properties: { v: { type: 'integer' } } } });
    expect(JSON.stringify(await storedSchema(app))).not.toMatch(/k\d+x/);
  });

  it('which the filter of the service chooses from', async () => {
    await app.products(1500, (index) => ({
      data: { n: index % 2, ...(index % 2 === 0 && { [CANARY]: 1 }) },
    }));
    await app.filter('product', 'odd', { 'data.n': 1 });
    expect(JSON.stringify([await schemaOf(app, 'odd'), await storedSchema(app, 'odd')])).not.toContain(
      CANARY,
    );
  });

  it('the first one of a service that chooses few of many records has hundreds of its own', async () => {
    await app.products(6000, (index) => ({ data: { n: index % 5, name: `p${index}` } }));
    await app.filter('product', 'few', { 'data.n': 1 });
    const { sample, count } = (await schemaOf(app, 'few'))['x-tidemark-records'];
    expect(sample).toBe(true);
    expect(count).toBeGreaterThanOrEqual(500);
  });
});

describe('the leader keeps it up to date', () => {
  const many = (data: object) => app.products(25, () => ({ data }));

  it('and tells what appears, vanishes and changes its type, with a version that grows by one', async () => {
    const before = await service.metric('tidemark_schema_changes_total{change="appeared"}');
    await many({ a: 1, gone: 'x' });
    await service.watcher.caughtUp();
    const { 'x-tidemark-version': version } = await untilSchema(
      app,
      (one) => one['x-tidemark-records'].count === 25,
    );
    const added = await app.product({ data: { a: 'x', rows: [{ b: true }] } });
    const { 'x-tidemark-changes': changes, ...schema } = await untilSchema(
      app,
      (one) => 'rows' in dataIn(one),
    );
    const at = expect.any(String) as unknown;
    const next = version + 1;
    expect(schema['x-tidemark-version']).toBe(next);
    expect(changes).toEqual([
      { version: next, at, path: 'data.a', change: 'type', from: ['integer'], to: ['integer', 'string'] },
      { version: next, at, path: 'data.rows', change: 'appeared', to: ['array'] },
      { version: next, at, path: 'data.rows[]', change: 'appeared', to: ['object'] },
      { version: next, at, path: 'data.rows[].b', change: 'appeared', to: ['boolean'] },
    ]);
    expect(await service.metric('tidemark_schema_changes_total{change="appeared"}')).toBe(before + 3);
    await app.remove('product', added);
    const after = await untilSchema(app, (one) => !('rows' in dataIn(one)));
    expect(after['x-tidemark-version']).toBe(next + 1);
    expect(after['x-tidemark-changes'].slice(0, 2)).toMatchObject([
      { path: 'data.a', change: 'type', to: ['integer'] },
      { path: 'data.rows', change: 'vanished', from: ['array'] },
    ]);
  });

  it('and names no members of what has become a map, in its changes either', async () => {
    const named = (names: string[]) => ({
      byName: Object.fromEntries(names.map((name) => [name, { v: 1 }])),
    });
    await many(named(['first']));
    await service.watcher.caughtUp();
    await untilSchema(app, (one) => one['x-tidemark-records'].count === 25);
    await app.product({ data: named([CANARY]) });
    const isTold = ({ 'x-tidemark-changes': changes }: ToldSchema) =>
      changes.some(({ path }) => path === `data.byName.${CANARY}.v`);
    await untilSchema(app, isTold);
    await app.product({ data: named(Array.from({ length: 200 }, (_, at) => `name${at}x`)) });
    const schema = await untilSchema(app, (one) => dataIn(one)['byName']!.additionalProperties !== undefined);
    expect(schema['x-tidemark-changes'].map(({ path }) => path)).toEqual([
      ...['data.byName.*', 'data.byName.*.v'],
    ]);
    expect(JSON.stringify([schema, await storedSchema(app)])).not.toContain(CANARY);
  });

  it('unasked, and not again while no record changes', async () => {
    await many({ a: 1 });
    await service.watcher.caughtUp();
    await eventually(async () => (await storedSchema(app))?.['seen'] !== undefined);
    await untilSchema(app, (one) => one['x-tidemark-records'].count === 25);
    const { at } = (await storedSchema(app))!;
    const other = await service.application();
    await other.product({ data: { b: 1 } });
    await service.watcher.caughtUp();
    const ofOther = { ...other.tenant, name: 'default', kind: 'product' };
    await eventually(async () => (await service.db.collection('tidemark.schemas').findOne(ofOther)) !== null);
    expect((await storedSchema(app))!['at']).toEqual(at);
  });

  it('no program can make it show something else: what it cannot read it takes anew', async () => {
    await app.product({ data: { a: 1 } });
    await service.watcher.caughtUp();
    const { 'x-tidemark-version': version } = await untilSchema(app, (one) => 'a' in dataIn(one));
    await service.db.collection('tidemark.schemas').updateOne(app.tenant, { $set: { seen: { x: 1 } } });
    const schema = await untilSchema(app, (one) => 'a' in dataIn(one));
    expect(schema['x-tidemark-version']).toBe(version + 1);
  });
});

describe('after an edit, nothing names what is hidden now', () => {
  it('neither an answer, nor what is stored, nor the changes', async () => {
    await app.products(25, () => ({ data: { n: 1 } }));
    await app.filter('product', 'erp', { 'data.n': 1 });
    await untilSchema(app, (one) => one['x-tidemark-records'].count === 25, 'erp');
    await app.product({ data: { n: 1, [CANARY]: { inner: 1 } } });
    const before = await untilSchema(
      app,
      (one) => JSON.stringify(one).includes(`data.${CANARY}.inner`),
      'erp',
    );
    await setService(app, 'erp', { $set: { fields: { except: [`data.${CANARY}`] } } });
    const first = await askSchema(app, 'erp');
    expect([first.status, first.text.includes(CANARY)]).toEqual([200, false]);
    const schema = JSON.parse(first.text) as ToldSchema;
    expect(schema['x-tidemark-version']).toBe(before['x-tidemark-version'] + 1);
    expect(schema['x-tidemark-changes']).toEqual([]);
    expect(JSON.stringify(await storedSchema(app, 'erp'))).not.toContain(CANARY);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a service that is off', () => setService(app, 'erp', { $set: { enabled: false } })],
    ['a service with invalid fields', () => setService(app, 'erp', { $set: { fields: { except: 7 } } })],
    [
      'a service that is removed',
      () => service.db.collection('services').deleteOne({ ...app.tenant, name: 'erp' }),
    ],
  ])('%s is not stored any more, unasked', async (_name, edit) => {
    await app.product({ data: { n: 1, [CANARY]: 1 } });
    await app.filter('product', 'erp', { 'data.n': 1 });
    await untilSchema(app, (one) => CANARY in dataIn(one), 'erp');
    await edit();
    await eventually(async () => !JSON.stringify(await storedSchema(app, 'erp')).includes(CANARY));
    expect((await storedSchema(app, 'erp'))!['version']).toBe(1);
  });

  it('an application that is removed leaves none', async () => {
    await app.product({ data: { [CANARY]: 1 } });
    await service.watcher.caughtUp();
    await untilSchema(app, (one) => CANARY in dataIn(one));
    const console = new AdminConsole(service.uri);
    const { organizationid: org, appid } = app;
    await console.json(`application remove --org ${org} --app ${appid} --purge`);
    await service.watcher.caughtUp();
    await eventually(async () => (await storedSchema(app)) === null);
  });
});

describe('errors are those of `updates`', () => {
  it.each<[string, string, number, string]>([
    ['a service that is not there', 'product/none/schema', 404, 'unknown-service'],
    ['a kind that is not there', 'order/default/schema', 404, 'unknown-kind'],
  ])('%s', async (_name, path, status, slug) => {
    expectProblem(await onceServed(() => app.get(path)), status, slug);
  });

  it('of an application that the credential does not cover, and without credentials', async () => {
    const other = await service.application();
    const user = other.user('read');
    expectProblem(await app.get('product/default/schema', { user }), 404, 'unknown-application');
    expectProblem(await app.get('product/default/schema', { user: null }), 401, 'unauthorized');
  });

  it('of a filter that MongoDB refuses when it meets a record', async () => {
    await app.filter('product', 'erp', { $expr: { $gt: [{ $toInt: '$data.n' }, 1] } });
    await app.product({ data: { n: 'not a number' } });
    await service.watcher.caughtUp();
    expectProblem(await askSchema(app, 'erp'), 500, 'service-misconfigured');
  });
});
