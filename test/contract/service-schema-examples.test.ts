/** Contract §9: examples in schemas, how operators print a schema and allow examples, and what a removed application leaves. */
import mongoose from 'mongoose';
import { Metrics } from '../../src/platform/observability/index.js';
import { PageBytes, ReadSlots } from '../../src/replication/feed/index.js';
import { Schemas } from '../../src/replication/schema/index.js';
import { eventually, expectProblem, Gate, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { FieldsSetting } from './fields-setting.js';
import { CANARY, setService } from './shown-fields.js';
import { askSchema, dataIn, schemaOf, storedSchema, type ToldSchema, untilSchema } from './told-schema.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => {
  app = await service.application();
});

describe('examples are shown only where the service allows it', () => {
  const EXAMPLE = 'example-77';

  it('and are stored nowhere', async () => {
    await app.product({ data: { a: EXAMPLE, hidden: CANARY, byMail: { 'ada@example.org': 'value-78' } } });
    await app.filter('product', 'erp', {}, { fields: { except: ['data.hidden'] } });
    expect((await askSchema(app, 'erp')).text).not.toContain(EXAMPLE);
    await setService(app, 'erp', { $set: { schemaExamples: true } });
    const text = (await askSchema(app, 'erp')).text;
    expect(dataIn(JSON.parse(text) as ToldSchema)['a']!.examples).toEqual([EXAMPLE]);
    expect(text).not.toMatch(new RegExp(`${CANARY}|ada@example|value-78`));
    expect((await askSchema(app)).text).not.toContain(EXAMPLE);
    expect(JSON.stringify(await storedSchema(app, 'erp'))).not.toContain(EXAMPLE);
    await setService(app, 'erp', { $set: { schemaExamples: false } });
    expect((await askSchema(app, 'erp')).text).not.toContain(EXAMPLE);
  });

  it('and are read in turn, with the memory of pages', async () => {
    await app.products(20, (index) => ({ id: `p${index}`, data: { a: EXAMPLE, text: 'x'.repeat(200_000) } }));
    await app.filter('product', 'erp', {}, { schemaExamples: true });
    const isShown = async () => (await askSchema(app, 'erp')).text.includes(EXAMPLE);
    expect(await isShown()).toBe(true);
    const bytes = service.app.get(PageBytes, { strict: false });
    const read = jest.spyOn(service.app.get(ReadSlots, { strict: false }), 'read');
    const waited = jest.spyOn(bytes, 'turn');
    const others = bytes.open(new AbortController().signal, 'others');
    others.hold(bytes.most);
    try {
      const answer = isShown();
      await eventually(() => waited.mock.calls.length > 0);
      expect(read).not.toHaveBeenCalled();
      others.close();
      expect(await answer).toBe(true);
      expect(read.mock.calls.map(([{ limit, owner }]) => [limit, owner])).toEqual([[20, app.user('read')]]);
      await eventually(() => bytes.inFlight === 0);
    } finally {
      others.close();
      jest.restoreAllMocks();
    }
  });

  it.each(['true', 1, {}, ['true']])(
    'schemaExamples %j is no permission: the service delivers nothing',
    async (value) => {
      await app.product({ data: { a: EXAMPLE } });
      await app.filter('product', 'erp', {}, { schemaExamples: value });
      expectProblem(await askSchema(app, 'erp'), 500, 'service-misconfigured');
      expectProblem(await app.get('product/erp/updates?to=2100-01-01'), 500, 'service-misconfigured');
    },
  );
});

describe('administrators see the schema', () => {
  it('of their applications, without examples, and none of a service that is not served', async () => {
    const on = await FieldsSetting.of(service, app);
    await app.product({ data: { a: 'example-77' } });
    await app.filter('product', 'erp', {}, { schemaExamples: true });
    const { status, json, text } = await on.ask('GET', 'services/product/erp/schema');
    expect([status, text.includes('example-77')]).toEqual([200, false]);
    expect(dataIn(json as ToldSchema)).toEqual({ a: { type: 'string', 'x-tidemark-share': 1 } });
    expectProblem(await on.ask('GET', 'services/product/none/schema'), 404, 'unknown-service');
    const other = await FieldsSetting.of(service, await service.application());
    const { organizationid, appid } = app;
    const path = `../../${organizationid}/${appid}/services/product/erp/schema`;
    expectProblem(await other.ask('GET', path), 404, 'unknown-application');
  });
});

describe('the command `schema export`', () => {
  const words = (name: string) =>
    `schema export --org ${app.organizationid} --app ${app.appid} --kind product --name ${name}`;

  it('prints the JSON Schema, or TypeScript, without examples', async () => {
    await app.product({ data: { a: 'example-77', 'net price': 1 } });
    await app.filter('product', 'erp', {}, { schemaExamples: true });
    const { properties, ...schema } = await schemaOf(app, 'erp');
    const console = new AdminConsole(service.uri);
    const printed = await console.json<ToldSchema>(words('erp'));
    expect(printed).toMatchObject(schema);
    expect(JSON.stringify(printed)).not.toContain('example-77');
    expect(Object.keys(printed.properties!)).toEqual(Object.keys(properties!));
    const { output } = await console.run(`${words('erp')} --typescript`);
    expect(output).toContain('export interface ProductErpItem {');
    expect(output).toContain('    a?: string;\n    "net price"?: number;');
  });

  it('says why there is none', async () => {
    const console = new AdminConsole(service.uri);
    expect(await console.failure(words('none'))).toBe(
      `The product service "none" of ${app.organizationid}/${app.appid} is not served.`,
    );
    await app.filter('product', 'erp', {});
    await schemaOf(app, 'erp');
    await service.db.collection('tidemark.schemas').deleteOne({ ...app.tenant, name: 'erp' });
    expect(await console.failure(words('erp'))).toContain('There is no sample of the product service "erp"');
  });
});

describe('schemaExamples is set by every way of writing a service', () => {
  it('with true or false, and removed by null', async () => {
    const on = await FieldsSetting.of(service, app);
    const admin = new AdminConsole(service.uri);
    const isSet = async () => (await on.stored('erp'))?.['schemaExamples'] as unknown;
    const { status, json } = await on.put('erp', { filter: {}, schemaExamples: true });
    expect([status, json]).toEqual([200, expect.objectContaining({ schemaExamples: true })]);
    await on.put('erp', { filter: { id: 'a' } });
    expect(await isSet()).toBe(true);
    await on.put('erp', { filter: {}, schemaExamples: null });
    expect(await isSet()).toBeUndefined();
    await admin.json(on.set('erp', '--filter', '{}', '--schema-examples'));
    expect(await isSet()).toBe(true);
    await admin.json(on.set('erp', '--filter', '{}', '--no-schema-examples'));
    expect(await isSet()).toBeUndefined();
    await admin.json(await on.apply({ name: 'erp', filter: {}, schemaExamples: true }));
    expect(await isSet()).toBe(true);
    expect((await on.applied({ name: 'erp', filter: {} })).status).toBe(200);
    expect(await isSet()).toBeUndefined();
  });

  it('and with nothing else', async () => {
    const on = await FieldsSetting.of(service, app);
    const admin = new AdminConsole(service.uri);
    const wrong = { filter: {}, schemaExamples: 'yes' };
    for (const { status, json } of [
      await on.put('bad', wrong),
      await on.applied({ name: 'bad', ...wrong }),
    ]) {
      const { errors } = json as { errors: { pointer: string; detail: string }[] };
      expect([status, errors[0]!.pointer]).toEqual([400, expect.stringMatching(/schemaExamples$/)]);
      expect(errors[0]!.detail).toContain('is not true or false');
    }
    expect(await admin.failure(await on.apply({ name: 'bad', ...wrong }))).toContain('/schemaExamples');
    expect(await on.stored('bad')).toBeNull();
    const both = on.set('bad', '--filter', '{}', '--schema-examples', '--no-schema-examples');
    expect(await admin.failure(both)).toContain('Give either --schema-examples or --no-schema-examples.');
  });
});

it('the first sample for a request is read in turn, as a large page of its credential', async () => {
  const on = await FieldsSetting.of(service, app);
  await app.product({ data: { a: 1 } });
  const read = jest.spyOn(service.app.get(ReadSlots, { strict: false }), 'read');
  const turns = () => read.mock.calls.map(([{ limit, owner }]) => `${limit} ${owner}`);
  const without = () => service.db.collection('tidemark.schemas').deleteOne({ ...app.tenant });
  try {
    // The watcher may take the first sample before the request does.
    await eventually(async () => {
      await without();
      expect((await askSchema(app)).status).toBe(200);
      return turns().includes(`1000 ${app.user('read')}`);
    });
    await eventually(async () => {
      await without();
      expect((await on.ask('GET', 'services/product/default/schema')).status).toBe(200);
      return turns().some((turn) => turn.startsWith('1000 ') && !turn.endsWith(app.user('read')));
    });
    await schemaOf(app);
    const before = turns().length;
    await schemaOf(app);
    expect(turns().slice(before)).toEqual([]);
  } finally {
    jest.restoreAllMocks();
  }
});

it('a sample that is taken while its application is removed leaves no name of a field', async () => {
  await service.db.collection('applications').deleteOne(app.tenant);
  await app.product({ data: { [CANARY]: 1 } });
  const key = { ...app.tenant, kind: 'product', name: 'default' };
  await service.app.get(Schemas, { strict: false }).refresh(key);
  expect(JSON.stringify(await storedSchema(app))).not.toContain(CANARY);
});

it('a sample that another, earlier one has overtaken is taken again', async () => {
  const key = { ...app.tenant, kind: 'product', name: 'default' };
  await app.product({ data: { a: 1 } });
  await untilSchema(app, (one) => 'a' in dataIn(one));
  const schemas = service.db.collection('tidemark.schemas');
  const earlier = await schemas.findOne(key);
  await app.product({ data: { late: 1 } });
  await untilSchema(app, (one) => 'late' in dataIn(one));
  const gate = await Gate.to(service.uri);
  await gate.open();
  const connection = await mongoose.createConnection(gate.uri).asPromise();
  try {
    gate.hold((request) => /update\0[^]{4}tidemark\.schemas\0/.test(request.toString('latin1')));
    const refreshed = new Schemas(connection, service.app.get(Metrics)).refresh(key);
    await eventually(() => gate.holding > 0);
    const token = new mongoose.mongo.ObjectId();
    await schemas.replaceOne(key, { ...earlier, token });
    gate.release();
    await refreshed;
    expect(Object.keys(dataIn(await schemaOf(app)))).toEqual(['a', 'late']);
  } finally {
    await connection.close();
    await gate.shut();
  }
});

it('a sample that fails for another reason than its filter is taken again, although nothing changes', async () => {
  await app.product({ data: { a: 1 } });
  await untilSchema(app, (one) => 'a' in dataIn(one));
  const schemas = service.app.get(Schemas, { strict: false });
  const refresh = schemas.refresh.bind(schemas);
  let failures = 0;
  jest.spyOn(schemas, 'refresh').mockImplementation((key) => {
    const isFirst = key.appid === app.appid && key.kind === 'product' && failures++ === 0;
    return isFirst ? Promise.reject(new mongoose.mongo.MongoNetworkError('down')) : refresh(key);
  });
  try {
    await app.product({ data: { late: 1 } });
    await eventually(() => failures > 0);
    await untilSchema(app, (one) => 'late' in dataIn(one));
  } finally {
    jest.restoreAllMocks();
  }
});

it('records with a number as id count as far as the feed delivers them', async () => {
  await app.products(3, (index) => ({ id: 100 + index, data: { number: 1 } }));
  await app.product({ id: 'text', data: { text: 1 } });
  await app.product({ id: '200', data: { text: 1 } });
  await service.watcher.caughtUp();
  // The feed shows the text under this id.
  await app.product({ id: 200, data: { rival: 1 } });
  await service.watcher.caughtUp();
  const count = (await app.feed('product').drain()).length;
  const schema = await untilSchema(app, (one) => one['x-tidemark-records'].count === count);
  expect(count).toBe(5);
  expect(Object.keys(dataIn(schema))).toEqual(['number', 'text']);
});

it('a number as id that the ledger knows only as a text counts no more than the feed delivers it', async () => {
  await app.product({ id: 'a', data: { n: 1, shown: 1 } });
  await app.product({ id: 7, data: { n: 1, [CANARY]: 1 } });
  await service.watcher.caughtUp();
  const entry = { ...app.tenant, kind: 'product', id: '7' };
  const ledger = service.db.collection('tidemark.ledger');
  expect((await ledger.updateOne(entry, { $unset: { isNumber: '' } })).modifiedCount).toBe(1);
  await app.filter('product', 'erp', { 'data.n': 1 });
  expect((await app.feed('product', 'erp').drain()).map(({ id }) => id)).toEqual(['a']);
  expect(Object.keys(dataIn(await schemaOf(app, 'erp')))).toEqual(['n', 'shown']);
});
