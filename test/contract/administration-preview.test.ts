import { previewFilter } from '../../src/administration/index.js';
import {
  type Answer,
  eventually,
  PASSWORD,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { commandsDuring } from './profiler.js';

let service: TestService;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(() => service.stop());

const previewUrl = (of: TestApplication) =>
  `${service.url}/admin/v1/applications/${of.organizationid}/${of.appid}/preview/product`;
const ask = (of: TestApplication, body: object): Promise<Answer> =>
  send(previewUrl(of), 'POST', { user: root, body });
const place = (of: TestApplication) => ({ ...of.tenant, kind: 'product' }) as const;
const products = () => service.db.collection('products');

describe('A preview of a filter', () => {
  it('counts who matches and who does not, who enters and who leaves, and what is delivered again', async () => {
    const mine = await service.application({ organizationid: app.organizationid });
    await mine.products(30, (index) => ({ id: `p-${String(index).padStart(2, '0')}`, data: { n: index } }));
    await mine.filter('product', 'low', { 'data.n': { $lt: 20 } });
    const body = { name: 'low', filter: { 'data.n': { $gte: 8 } } };
    expect((await ask(mine, body)).json).toEqual({
      records: 30,
      matching: {
        count: 22,
        ids: Array.from({ length: 10 }, (_, n) => `p-${String(n + 8).padStart(2, '0')}`),
      },
      others: { count: 8, ids: Array.from({ length: 8 }, (_, n) => `p-0${n}`) },
      entering: { count: 10, ids: Array.from({ length: 10 }, (_, n) => `p-${n + 20}`) },
      leaving: { count: 8, ids: Array.from({ length: 8 }, (_, n) => `p-0${n}`) },
      concerned: { count: 0, ids: [] },
      restamps: 18,
      isCutOff: false,
      plan: {
        ...{ indexes: ['organizationid_1_appid_1__id_1'], readsEveryRecord: true },
        advice: { organizationid: 1, appid: 1, 'data.n': 1 },
      },
      warnings: [],
      samples: [0, 1, 2].map((n) => ({
        ...{ id: `p-0${n}`, before: expect.objectContaining({ id: `p-0${n}`, data: { n } }), after: null },
      })),
    });
    const same = { name: 'low', filter: { $and: [{ 'data.n': { $lt: 20 } }] } };
    expect((await ask(mine, same)).json).toMatchObject({ restamps: 0 });
    expect((await ask(mine, { filter: { $where: '1' } })).status).toBe(400);
  });

  it('compares with the last filter of a service that is off, or was removed', async () => {
    const mine = await service.application();
    await mine.products(3, (index) => ({ id: `p${index}`, data: { n: index } }));
    await mine.filter('product', 'first', { 'data.n': 0 });
    const body = { name: 'first', filter: { 'data.n': { $lt: 2 } } };
    const entering = { count: 1, ids: ['p1'] };
    await service.db.collection('services').updateOne(mine.tenant, { $set: { enabled: false } });
    expect((await ask(mine, body)).json).toMatchObject({ entering, leaving: { count: 0 }, restamps: 1 });
    await service.db.collection('services').deleteOne(mine.tenant);
    expect((await ask(mine, body)).json).toMatchObject({ entering, leaving: { count: 0 }, restamps: 1 });
    const never = (await ask(mine, { ...body, name: 'second' })).json;
    expect(never).toMatchObject({ restamps: 0, matching: { count: 2 } });
    expect(never).not.toHaveProperty('entering');
  });

  it.each<[string, object, string]>([
    ['a pattern', { 'data.name': { $regex: '(' } }, 'data.name'],
    [
      'one among many',
      { 'data.a': 1, $or: [{ 'data.b': 1 }, { 'data.c': { $type: 'colour' } }] },
      '$or[1].data.c',
    ],
  ])('what MongoDB refuses is told with its place: %s', async (_name, filter, at) => {
    const { status, json } = await ask(app, { filter });
    expect(status).toBe(400);
    const [error] = (json as { errors: { pointer: string; detail: string }[] }).errors;
    expect(error?.pointer).toBe('/filter');
    expect(error?.detail).toContain(`MongoDB refuses the filter at ${at}: `);
  });
});

describe('A preview of a filter tells whether an index serves it, or every record is read', () => {
  const planOf = async (of: TestApplication, filter: object) => (await ask(of, { filter })).json as object;

  it.each<[string, object, string]>([
    ['lastupdated', { lastupdated: { $gt: { $date: '2026-01-01T00:00:00Z' } } }, 'lastupdated_1__id_1'],
    ['channels', { channels: 'web' }, 'channels_1'],
  ])('the index of the service over %s', async (_name, filter, index) => {
    expect(await planOf(app, filter)).toMatchObject({
      plan: { indexes: [`organizationid_1_appid_1_${index}`], readsEveryRecord: false, advice: null },
    });
  });

  it('and which index to make; none where none would serve it', async () => {
    const mine = await service.application();
    await mine.products(300, (index) => ({ data: { color: `c${index}`, n: index } }));
    const filter = { 'data.color': 'c7', 'data.n': { $gt: 5 } };
    const key = { organizationid: 1, appid: 1, 'data.color': 1 } as const;
    expect(await planOf(mine, filter)).toMatchObject({ plan: { readsEveryRecord: true, advice: key } });
    const index = await products().createIndex(key);
    expect(await planOf(mine, filter)).toMatchObject({
      plan: { indexes: [index], readsEveryRecord: false, advice: null },
    });
    await products().dropIndex(index);
    expect(await planOf(mine, { 'data.color': { $ne: 'c7' } })).toMatchObject({
      plan: { readsEveryRecord: true, advice: null },
    });
  });

  it('states the index of each query: MongoDB would try all of them where there is little to be found', async () => {
    const mine = await service.application();
    await mine.products(30, (index) => ({ data: { n: index, color: `c${index}` } }));
    const index = await products().createIndex({ organizationid: 1, appid: 1, 'data.color': 1 });
    const stated = async (filter: object) => {
      const options = { inForce: { filter: { 'data.n': 5 } }, maxTimeMS: 30_000 };
      const commands = await commandsDuring(service.db, () =>
        previewFilter(service.db, place(mine), { filter }, options),
      );
      const counting = commands.filter(({ command }) => /"data\.(n|color)"/.test(JSON.stringify(command)));
      const hints = counting
        .filter(({ command }) => command['explain'] === undefined)
        .map(({ command }) => command['hint'] as string | undefined);
      return [...new Set(hints)].sort();
    };
    expect(await stated({ 'data.n': { $gt: 5 } })).toEqual(['organizationid_1_appid_1__id_1']);
    expect(await stated({ 'data.color': 'c7' })).toEqual([
      'organizationid_1_appid_1__id_1',
      index,
      undefined,
    ]);
    await products().dropIndex(index);
  });
});

describe('A preview of a filter warns of a field that no record has', () => {
  it('and shows where it may be meant', async () => {
    const mine = await service.application();
    await mine.products(3, () => ({ extra: 1, data: { category: { name: 'bikes' } } }));
    const either = { $or: [{ 'category.name': 'bikes' }, { brand: 'x' }] };
    const filter = { ...either, extra: 1, 'data.brand': 'x', id: 'x' };
    expect((await ask(mine, { filter })).json).toMatchObject({
      matching: { count: 0 },
      warnings: [
        {
          path: '$or[0].category.name',
          detail:
            'No product has the field "category"; write "data.category.name", since some have "data.category".',
        },
        {
          path: '$or[1].brand',
          detail: 'No product has the field "brand"; a field of "data" is written "data.brand".',
        },
        { path: 'data.brand', detail: 'No product has the field "data.brand"; is its name right?' },
      ],
    });
  });

  it('records of other applications do not count', async () => {
    const mine = await service.application();
    await app.product({ color: 'red' });
    expect((await ask(app, { filter: { color: 'red' } })).json).toMatchObject({ warnings: [] });
    expect((await ask(mine, { filter: { color: 'red' } })).json).toMatchObject({
      warnings: [{ path: 'color' }],
    });
  });
});

describe('A preview that takes too long', () => {
  it('is cut off with what it knows, and says so', async () => {
    const mine = await service.application();
    await mine.products(30);
    const nothing = await previewFilter(
      service.db,
      place(mine),
      { filter: { a: 1 } },
      { inForce: { filter: { b: 1 } }, maxTimeMS: 0 },
    );
    const unknown = { count: null, ids: [] };
    expect(nothing).toMatchObject({
      ...{ records: null, matching: unknown, others: unknown, entering: unknown, leaving: unknown },
      ...{ restamps: null, error: undefined, isCutOff: true, plan: { readsEveryRecord: true } },
    });
  });

  describe('ends in the database as soon as nobody waits for it', () => {
    const slow = { 'data.text': { $regex: '(a+)+(a+)+(a+)+$' } };
    /** Whether the database works at the pattern: it may be about to find, or to count. */
    const running = async () => {
      const ofProducts = [{ $currentOp: { allUsers: true } }, { $match: { ns: products().namespace } }];
      const found = await service.client.db('admin').aggregate(ofProducts).toArray();
      return found.some(({ command }) => String(JSON.stringify(command)).includes('(a+)+'));
    };
    let mine: TestApplication;
    beforeAll(async () => {
      mine = await service.application();
      await mine.products(20_000, (index) => ({ data: { text: `${'a'.repeat(2000)}${index}` } }));
    });

    it('whoever asked for it', async () => {
      const gone = new AbortController();
      const options = { maxTimeMS: 60_000, signal: gone.signal };
      const preview = previewFilter(service.db, place(mine), { filter: slow }, options);
      preview.catch(() => undefined);
      await eventually(running).finally(() => gone.abort());
      await expect(preview).rejects.toThrow('interrupted');
      expect(await running()).toBe(false);
    });

    it.each([-1, 0, 1, 2, 5, 10, 20, 40, 80])(
      '%s ms after it began, wherever it is in its work',
      async (ms) => {
        const signal = ms < 0 ? AbortSignal.abort() : AbortSignal.timeout(ms);
        const preview = previewFilter(
          service.db,
          place(mine),
          { filter: slow },
          { maxTimeMS: 60_000, signal },
        );
        await expect(preview).rejects.toThrow(/abort|interrupted|killed/);
        expect(await running()).toBe(false);
      },
    );

    it('a client that closes its connection', async () => {
      const ended = async () => {
        const { metrics } = await service.client.db('admin').command({ serverStatus: 1 });
        return Number(metrics.commands.killSessions.total);
      };
      await mine.filter('product', 'slow', slow);
      const before = await ended();
      const gone = new AbortController();
      const answer = fetch(previewUrl(mine), {
        ...{ method: 'POST', body: '{"name": "slow", "filter": {"data.text": "none"}}', signal: gone.signal },
        headers: {
          'content-type': 'application/json',
          authorization: `Basic ${btoa(`${root}:${PASSWORD}`)}`,
        },
      });
      answer.catch(() => undefined);
      await eventually(running).finally(() => gone.abort());
      await expect(answer).rejects.toThrow();
      await eventually(async () => (await ended()) > before);
    });
  });
});
