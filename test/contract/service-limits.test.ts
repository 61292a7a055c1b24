import { mongo } from 'mongoose';
import type { Status } from '../../src/administration/index.js';
import { eventually, expectProblem, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

interface Listed {
  result: { name: string }[];
  leftOut?: number;
}

const MOST = 1000;
const FILTER = { 'data.n': 1 };

let service: TestService;
beforeAll(async () => {
  service = await TestService.shared();
});
/** The configuration as a whole has a limit too, which other tests of the shared service do not expect to reach. */
afterAll(() => service.db.collection('services').deleteMany({ name: /^(s|direct)\d+$/ }));

const services = () => service.db.collection('services');
/** Off, so that nobody has to bring them into force. */
const stored = (app: TestApplication, count: number, filter: object) =>
  services().insertMany(
    Array.from({ length: count }, (_, index) => ({
      ...{ ...app.tenant, kind: 'product', name: `s${index}`, filter, enabled: false },
    })),
  );
const ask = (app: TestApplication, method: string, name: string, body?: object) =>
  send(
    `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}/services/product/${name}`,
    method,
    { user: app.user('admin'), body },
  );
const configure = (app: TestApplication, what: string, some: object[]) =>
  send(`${service.url}/admin/v1/configuration/${what}`, 'POST', {
    user: app.user('admin'),
    body: { applications: [{ ...app.tenant, services: some }] },
  });
const words = (app: TestApplication, name: string) => [
  ...['service', 'set', '--org', app.organizationid, '--app', app.appid, '--kind', 'product'],
  ...['--name', name, '--filter', '{"data.n": 1}'],
];

describe('The services of an application are limited, by every way of writing them', () => {
  it('in number: 409, and one can be replaced or removed all the same', async () => {
    const app = await service.application();
    await stored(app, MOST, FILTER);
    const one = { kind: 'product', name: 'further', filter: FILTER };
    const sentence = 'would have 1,001 services; at most 1,000 are allowed';
    for (const answer of [
      await ask(app, 'PUT', 'further', { filter: FILTER }),
      await configure(app, 'plan', [one]),
      await configure(app, 'apply', [one]),
    ]) {
      expectProblem(answer, 409, 'too-many-services');
      expect(answer.text).toContain(sentence);
    }
    expect(await new AdminConsole(service.uri).failure(words(app, 'further'))).toContain(sentence);
    expect(await services().countDocuments(app.tenant)).toBe(MOST);
    expect((await ask(app, 'PUT', 's1', { filter: { 'data.n': 2 } })).status).toBe(200);
    expect((await ask(app, 'DELETE', 's2')).status).toBe(204);
    expect((await ask(app, 'PUT', 'further', { filter: FILTER })).status).toBe(200);
    expect((await ask(await service.application(), 'PUT', 'one', { filter: FILTER })).status).toBe(200);
  });

  it('in bytes: 409, and what other programs stored may become less', async () => {
    const app = await service.application();
    const large = (bytes: number) => ({ 'data.n': 'x'.repeat(bytes) });
    await stored(app, 70, large(60_000));
    expectProblem(await ask(app, 'PUT', 'further', { filter: FILTER }), 409, 'too-many-services');
    expectProblem(await ask(app, 'PUT', 's1', { filter: large(60_100) }), 409, 'too-many-services');
    const one = { kind: 'product', name: 's1', filter: large(60_200) };
    expectProblem(await configure(app, 'apply', [one]), 409, 'too-many-services');
    expect((await ask(app, 'PUT', 's1', { filter: FILTER })).status).toBe(200);
  });
});

describe('The size of a service is that of its whole document', () => {
  const LIMIT = 4 * 1024 * 1024;
  const NEW = { kind: 'product', name: 's1', filter: FILTER, enabled: false };
  const bytes = async (app: TestApplication) => {
    const [found] = await services()
      .aggregate<{ bytes: number }>([
        { $match: app.tenant },
        { $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
      ])
      .toArray();
    return found?.bytes ?? 0;
  };
  /** An application whose services may have this number of bytes. */
  async function withRoomFor(room: number): Promise<TestApplication> {
    const app = await service.application();
    const filler = { ...app.tenant, kind: 'product', name: 's0', filter: FILTER, enabled: false };
    await services().insertOne({ ...filler, description: '' });
    const description = 'x'.repeat(LIMIT - room - (await bytes(app)));
    await services().updateOne(app.tenant, { $set: { description } });
    expect(await bytes(app)).toBe(LIMIT - room);
    return app;
  }

  it('with the `_id` of a new one', async () => {
    const { tenant } = await service.application();
    const size = mongo.BSON.calculateObjectSize({ _id: new mongo.ObjectId(), ...tenant, ...NEW });
    const app = await withRoomFor(size - 1);
    const { name, filter, enabled } = NEW;
    for (const answer of [
      await ask(app, 'PUT', name, { filter, enabled }),
      await configure(app, 'plan', [NEW]),
      await configure(app, 'apply', [NEW]),
    ])
      expectProblem(answer, 409, 'too-many-services');
    expect(await services().countDocuments(app.tenant)).toBe(1);
    const other = await withRoomFor(size);
    expect((await ask(other, 'PUT', name, { filter, enabled })).status).toBe(200);
    expect(await bytes(other)).toBe(LIMIT);
  });

  it('with what an edit leaves unchanged', async () => {
    const app = await withRoomFor(1000);
    const stored = { ...app.tenant, ...NEW, description: 'x'.repeat(100), theirs: 'x'.repeat(100) };
    await services().insertOne(stored);
    const left = LIMIT - (await bytes(app));
    const edit = (more: number) => ({ filter: FILTER, description: 'x'.repeat(100 + more) });
    const { kind, name, enabled } = NEW;
    for (const answer of [
      await ask(app, 'PUT', name, edit(left + 1)),
      await configure(app, 'apply', [{ kind, name, enabled, ...edit(left + 1) }]),
    ])
      expectProblem(answer, 409, 'too-many-services');
    expect((await ask(app, 'PUT', name, edit(left))).status).toBe(200);
    expect(await bytes(app)).toBe(LIMIT);
    expect((await configure(app, 'apply', [{ kind, name, enabled, ...edit(0) }])).status).toBe(200);
    expect((await configure(app, 'apply', [{ kind, name, enabled, ...edit(left) }])).status).toBe(200);
    expect(await bytes(app)).toBe(LIMIT);
  });
});

describe('What other programs store beyond the limits costs their own application alone', () => {
  const name = (index: number) => `direct${String(index).padStart(4, '0')}`;
  const insert = async (app: TestApplication, documents: object[]) => {
    await services().insertMany(
      documents.map((one, index) => ({ ...app.tenant, kind: 'product', name: name(index), ...one })),
    );
    await inForce(app);
  };
  const inForce = (app: TestApplication) =>
    eventually(async () => {
      const enabled = await services().countDocuments({ ...app.tenant, enabled: { $ne: false } });
      return (await effective().countDocuments(app.tenant)) === enabled;
    });
  const effective = () => service.db.collection('tidemark.filterversions');
  const beyond = () => service.metric('tidemark_services_beyond_limits');
  const page = (app: TestApplication, index: number) => app.feed('product', name(index)).ask();
  const expectRefused = async (app: TestApplication, index: number) => {
    const { detail } = expectProblem(await page(app, index), 500, 'service-misconfigured');
    expect(detail).toContain(
      `The application exceeds its limit of services, and the product service "${name(index)}"`,
    );
  };

  it('in number: 500 for those that came last, told of by status and metric, and served once there is room', async () => {
    const [app, other] = [await service.application(), await service.application()];
    await app.product({ id: 'p', data: { n: 1 } });
    await service.watcher.caughtUp();
    const before = (await beyond()) || 0;
    await insert(
      app,
      Array.from({ length: MOST + 2 }, (_, index) => ({
        filter: FILTER,
        enabled: index === 0 || index >= MOST - 1,
      })),
    );
    for (const index of [0, MOST - 1]) expect((await page(app, index)).status).toBe(200);
    for (const index of [MOST, MOST + 1]) await expectRefused(app, index);
    expect(await beyond()).toBe(before + 2);
    await other.filter('product', 'one', FILTER);
    expect((await other.feed('product', 'one').ask()).status).toBe(200);

    const { faultyFilters } = await new AdminConsole(service.uri).json<Status>('status');
    const of = `product service "${name(MOST)}" of ${app.organizationid}/${app.appid}`;
    const told = faultyFilters.first.find((one) => one.service === of)!;
    expect(told).toMatchObject({ isServed: false });
    expect(told.detail).toContain('exceed its limits of number or size');

    await services().deleteOne({ ...app.tenant, name: name(3) });
    await eventually(async () => (await page(app, MOST)).status === 200);
    await expectRefused(app, MOST + 1);
    expect((await app.feed('product', name(MOST)).page()).ids).toEqual(['p']);
    await services().updateOne({ ...app.tenant, name: name(MOST + 1) }, { $set: { enabled: false } });
    await eventually(async () => (await page(app, MOST + 1)).status === 404);
    await services().deleteOne({ ...app.tenant, name: name(4) });
    await eventually(async () => (await beyond()) === before);
  });

  it('in bytes: one that is too large for what is left is passed over', async () => {
    const app = await service.application();
    const large = { filter: FILTER, description: 'x'.repeat(1_500_000) };
    await insert(app, [large, large, large, { filter: FILTER }]);
    for (const index of [0, 1, 3]) expect((await page(app, index)).status).toBe(200);
    await expectRefused(app, 2);
    await services().updateOne({ ...app.tenant, name: name(0) }, { $set: { description: '' } });
    await eventually(async () => (await page(app, 2)).status === 200);
  });

  it('the list answers as many as are allowed, and how many more there are', async () => {
    const app = await service.application();
    const large = { filter: FILTER, enabled: false, description: 'x'.repeat(1_500_000) };
    await services().insertMany(
      [large, { ...large, description: 'x'.repeat(5_000_000) }, large, large].map((one, index) => ({
        ...{ ...app.tenant, kind: 'product', name: name(index), ...one },
      })),
    );
    const path = `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}/services`;
    const list = async () => (await send(path, 'GET', { user: app.user('admin') })).json as Listed;
    const listed = await list();
    expect(listed.result.map((one) => one.name)).toEqual([name(0), name(2)]);
    expect(listed.leftOut).toBe(2);
    await services().deleteMany({ ...app.tenant, name: { $in: [name(1), name(3)] } });
    expect(await list()).toEqual({ result: listed.result });
  });
});

describe('Edits of the services of an application are limited in rate', () => {
  it('429 with Retry-After, and another application is edited as ever', async () => {
    const [app, other] = [await service.application(), await service.application()];
    for (let edit = 0; edit < 300; edit += 1) expect((await ask(app, 'DELETE', 'none')).status).toBe(404);
    for (const answer of [
      await ask(app, 'DELETE', 'none'),
      await ask(app, 'PUT', 'one', { filter: FILTER }),
      await configure(app, 'apply', [{ kind: 'product', name: 'one', filter: FILTER }]),
    ]) {
      expectProblem(answer, 429, 'too-many-edits');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await services().countDocuments(app.tenant)).toBe(0);
    expect((await ask(other, 'PUT', 'one', { filter: FILTER })).status).toBe(200);
  });
});
