import { send, type TestApplication, TestService } from '../support/index.js';
import { commandsDuring, nameOf, type Profiled } from './profiler.js';

/** Bytes of BSON: a service with as large a filter as is allowed, and what one reply of a list holds. */
const FILTER = 64 * 1024;
const PORTION = 512 * 1024;
const OF_APPLICATION = 4 * 1024 * 1024;
const SERVICES = 60;
/** What the service knows of an application or credential is short, whatever other programs store with it. */
const SHORT = 400;
const NOTE = 'x'.repeat(100_000);
const OTHERS = 40;

let service: TestService;
/** Two applications of one organization with large services, and one with more than it may have. */
let shop: TestApplication;
let crowded: TestApplication;
let owner: string;
let applications: number;
let credentials: number;

beforeAll(async () => {
  service = await TestService.start();
  shop = await service.application();
  const { organizationid } = shop;
  const erp = await service.application({ organizationid });
  crowded = await service.application({ organizationid });
  await store(shop, SERVICES);
  await store(erp, SERVICES);
  await store(crowded, 3 * SERVICES);
  for (let other = 0; other < OTHERS; other += 1) await service.application();
  const db = service.db;
  for (const name of ['applications', 'credentials'])
    await db.collection(name).updateMany({}, { $set: { note: NOTE } });
  const scopes = [{ organizationid, appid: '*' }];
  owner = await shop.credential({ level: 'admin', scopes });
  applications = await db.collection('applications').countDocuments({ organizationid });
  credentials = await db
    .collection('credentials')
    .countDocuments({ 'scopes.organizationid': organizationid });
  await db
    .collection<{ _id: string; at: Date }>('tidemark.credentialuses')
    .insertMany([
      { _id: '', at: new Date(0) },
      ...Array.from({ length: 500 }, (_, index) => ({ _id: `stranger-${index}`, at: new Date() })),
    ]);
  await service.heard();
});
afterAll(() => service?.stop());

/** Off, so that none has to be brought into force; a filter of as many bytes as are allowed, or nearly. */
const store = (app: TestApplication, count: number) =>
  service.db.collection('services').insertMany(
    Array.from({ length: count }, (_, index) => ({
      ...{ ...app.tenant, kind: 'product', name: `s${index}`, enabled: false },
      filter: { 'data.n': 'x'.repeat(FILTER - 300) },
    })),
  );

interface Cost {
  /** Replies of the database, by what was done to which collection. */
  replies: Map<string, Profiled[]>;
  documents: number;
  bytes: number;
}

/** What a request to the administration asks the database, once its login is known. */
async function costOf(path: string, method = 'GET', body?: object): Promise<Cost> {
  const ask = () => send(`${service.url}/admin/v1/${path}`, method, { user: owner, body });
  expect((await ask()).status).toBe(200);
  const commands = await commandsDuring(service.db, async () => {
    expect((await ask()).status).toBe(200);
  });
  const asked = commands.filter(
    (one) =>
      one.command['comment'] === 'tidemark list' ||
      ['find tidemark.consumers', 'aggregate services'].includes(nameOf(one)),
  );
  const replies = new Map<string, Profiled[]>();
  for (const one of asked) replies.set(nameOf(one), [...(replies.get(nameOf(one)) ?? []), one]);
  return { replies, documents: sum(asked, 'docsExamined'), bytes: sum(asked, 'responseLength') };
}

const sum = (some: Profiled[], what: string) =>
  some.reduce((total, one) => total + Number(one[what] ?? 0), 0);
const largest = (some: Profiled[]) => Math.max(...some.map((one) => Number(one['responseLength'])));

describe('What a list of the administration reads', () => {
  it('applications: those of the organization, what is shown of them, and none of their services', async () => {
    const { replies, documents, bytes } = await costOf('applications');
    expect([...replies.keys()]).toEqual(['find applications']);
    expect(documents).toBe(applications);
    expect(bytes).toBeLessThan(applications * SHORT);
  });

  it('credentials: those of the organization, without what others have stored with them', async () => {
    const { replies, documents, bytes } = await costOf('credentials');
    expect([...replies.keys()].sort()).toEqual(['find credentials', 'find tidemark.credentialuses']);
    expect(documents).toBeLessThanOrEqual(2 * credentials);
    expect(bytes).toBeLessThan(2 * credentials * SHORT);
  });

  it('credentials that were not used for a while: no uses of other organizations', async () => {
    const { documents, bytes } = await costOf('credentials?unusedfor=30');
    expect(documents).toBeLessThanOrEqual(2 * credentials);
    expect(bytes).toBeLessThan(2 * credentials * SHORT);
  });

  it('consumers: those of the organization', async () => {
    const consumer = (organizationid: string, index: number) => ({
      _id: { organizationid, appid: shop.appid, username: `u${index}`, kind: 'product', service: 'default' },
      ...{
        firstCall: new Date(),
        lastCall: new Date(),
        calls: 1,
        pages: 1,
        items: 1,
        errors: 0,
        harvests: 1,
      },
    });
    await service.db
      .collection<{ _id: object }>('tidemark.consumers')
      .insertMany([
        ...Array.from({ length: 5 }, (_, index) => consumer(shop.organizationid, index)),
        ...Array.from({ length: 200 }, (_, index) => consumer('elsewhere', index)),
      ]);
    const { replies } = await costOf('consumers');
    expect([...replies.keys()].filter((name) => name.endsWith(' services'))).toEqual([]);
    const read = replies.get('find tidemark.consumers')!;
    expect([read.length, sum(read, 'docsExamined')]).toEqual([1, 5]);
  });

  it('a configuration: what is part of it, which alone counts towards its limit', async () => {
    const { tenant, organizationid, appid } = shop;
    const path = `configuration?organizationid=${organizationid}&appid=${appid}`;
    const { bytes } = await costOf(path);
    await service.db.collection('applications').updateOne(tenant, { $set: { note: NOTE.repeat(60) } });
    await service.db
      .collection('credentials')
      .updateOne({ username: shop.user('read') }, { $set: { note: NOTE.repeat(60) } });
    expect((await costOf(path)).bytes).toBeLessThan(bytes + SHORT);
  });

  it('a configuration that is applied: each application once more, however many services it has', async () => {
    const { tenant } = await service.application({ organizationid: shop.organizationid });
    const looksFor = async (count: number) => {
      const services = Array.from({ length: count }, (_, index) => ({
        ...{ kind: 'product', name: `s${index}`, filter: {}, enabled: false, description: `of ${count}` },
      }));
      const body = { applications: [{ ...tenant, services }] };
      const commands = await commandsDuring(service.db, async () => {
        const path = `${service.url}/admin/v1/configuration/apply?organizationid=${tenant.organizationid}&appid=${tenant.appid}`;
        expect((await send(path, 'POST', { user: owner, body })).status).toBe(200);
      });
      const isLook = ({ command }: Profiled) => command['find'] === 'applications' && command['limit'] === 1;
      return commands.filter(isLook).length;
    };
    expect([await looksFor(1), await looksFor(20)]).toEqual([1, 1]);
  });

  it('services: those of the application, each twice at most, half a megabyte at a time', async () => {
    const { replies, documents, bytes } = await costOf(listOf(shop));
    expect(documents).toBeLessThanOrEqual(2 * SERVICES);
    expect(bytes).toBeLessThan(SERVICES * (FILTER + SHORT));
    const read = [...(replies.get('find services') ?? []), ...(replies.get('getmore services') ?? [])];
    expect(read.length).toBeGreaterThanOrEqual((SERVICES * (FILTER - 300)) / PORTION);
    expect(largest(read)).toBeLessThan(PORTION + FILTER);
  });

  it('services beyond the limits of the application: as many bytes as are within them', async () => {
    const { replies, documents, bytes } = await costOf(listOf(crowded));
    expect(documents).toBeLessThanOrEqual(2 * 3 * SERVICES + OF_APPLICATION / (FILTER - 300));
    expect(bytes).toBeLessThan(OF_APPLICATION + 3 * SERVICES * SHORT);
    const read = [...(replies.get('find services') ?? []), ...(replies.get('getmore services') ?? [])];
    expect(largest(read)).toBeLessThan(PORTION + FILTER);
  });

  it('a service that is saved: the sizes of the others, and not their filters', async () => {
    const { bytes } = await costOf(`${listOf(shop)}/product/s1`, 'PUT', {
      filter: { 'data.n': 1 },
      enabled: false,
    });
    expect(bytes).toBeLessThan(SERVICES * SHORT);
  });
});

const listOf = ({ organizationid, appid }: TestApplication) =>
  `applications/${organizationid}/${appid}/services`;
