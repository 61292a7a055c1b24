/** Everything that operators do with records and services, once over HTTP and once by a command, for a created kind. */
import type { mongo } from 'mongoose';
import { ConsumerNotes } from '../../src/replication/feed/index.js';
import {
  type Answer,
  eventually,
  expectProblem,
  send,
  type SendOptions,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let app: TestApplication;
let root: string;
let commands: AdminConsole;
beforeAll(async () => {
  service = await TestService.alone();
  app = await service.application({ organizationid: 'acme', appid: 'shop' });
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  commands = new AdminConsole(service.uri);
  await service.db.collection('orders').insertMany(['o1', 'o2', 'o3', 'o4'].map(order));
  await commands.run('kind create --name order --collection orders');
  await eventually(async () => (await app.get('order/max')).status === 200);
});
afterAll(() => service?.stop());

/** A record as the service's own look, written by another program. */
function order(id: string, n: number): mongo.Document {
  return { ...app.tenant, id, lastupdated: new Date(), data: { n, customer: `c${n}` } };
}

const OF_APP = '--org acme --app shop';
const OF_KIND = `${OF_APP} --kind order`;
const orders = () => service.db.collection('orders');
const admin = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/applications/acme/shop/${path}`, method, { user: root, ...options });
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();

describe('Services of a created kind', () => {
  it('over HTTP: a preview, a service with hidden fields, its list, its feed', async () => {
    const body = { filter: { 'data.n': { $gt: 1 } }, fields: { except: ['data.customer'] } };
    expect((await admin('POST', 'preview/order', { body })).json).toMatchObject({ matching: { count: 2 } });
    const put = await admin('PUT', 'services/order/large', { body });
    expect(put).toMatchObject({ status: 200, json: { kind: 'order', name: 'large' } });
    await service.watcher.caughtUp();
    const items = await app.feed('order', 'large').drain();
    expect(idsOf(items)).toEqual(['o3', 'o4']);
    expect(items.map(({ data }) => data)).toEqual(expect.arrayContaining([{ n: 2 }]));
    const { result } = (await admin('GET', 'services')).json as { result: object[] };
    expect(result).toContainEqual(expect.objectContaining({ kind: 'order', name: 'large' }));
    expect((await admin('DELETE', 'services/order/large')).status).toBe(204);
    expectProblem(await admin('PUT', 'services/purchase/large', { body }), 404, 'unknown-service');
  });

  it('by commands: preview, set, list, index, remove', async () => {
    const filter = ['--filter', '{"data.n": {"$lt": 2}}'];
    const words = (text: string) => [...text.split(' '), ...filter];
    expect(await commands.json(words(`service preview ${OF_KIND}`))).toMatchObject({
      matching: { count: 2 },
    });
    expect((await commands.run(words(`service set ${OF_KIND} --name small`))).code).toBe(0);
    await service.watcher.caughtUp();
    expect(idsOf(await app.feed('order', 'small').drain())).toEqual(['o1', 'o2']);
    expect(await commands.json('service list --kind order')).toMatchObject([
      { kind: 'order', name: 'small' },
    ]);
    expect((await commands.run(words(`service index ${OF_KIND} --dry-run`))).code).toBe(0);
    expect((await commands.run(`service remove ${OF_KIND} --name small`)).code).toBe(0);
    expect(await commands.failure(words(`service set ${OF_APP} --kind purchase --name x`))).toBe(
      '--kind "purchase" is not known. Choose member or product or order.',
    );
  });
});

describe('Records of a created kind', () => {
  it('import, with --mirror; `resync`', async () => {
    const lines = ['o1', 'o2', 'o3', 'o4', 'new'].map((id, n) => JSON.stringify({ id, data: { n } }));
    const imported = await commands.run(`import ${OF_KIND} -`, { input: `${lines.join('\n')}\n` });
    expect(imported).toMatchObject({ code: 0, errors: [] });
    const kept = `${lines.slice(0, 4).join('\n')}\n`;
    expect((await commands.run(`import ${OF_KIND} --mirror -`, { input: kept })).code).toBe(0);
    expect(idsOf((await orders().find().toArray()) as never)).toEqual(['o1', 'o2', 'o3', 'o4']);
    await service.watcher.caughtUp();
    expect(idsOf(await app.hardDeletes('order').drain())).toEqual(['new']);
    const before = await app.max('order');
    expect((await commands.run(`resync ${OF_KIND}`)).code).toBe(0);
    await eventually(async () => (await app.max('order')) > before);
    expect(idsOf(await app.feed('order').drain({ from: before }))).toEqual(['o1', 'o2', 'o3', 'o4']);
  });

  it('are shown with their history, over HTTP and by commands', async () => {
    const story = { record: expect.objectContaining({ id: 'o1' }) as object };
    expect((await admin('GET', 'records/order/o1')).json).toMatchObject(story);
    expect(await commands.json(`record show ${OF_KIND} --id o1`)).toMatchObject(story);
    expect((await admin('GET', 'records/order/o1/history')).status).toBe(200);
    expect((await commands.run(`record history ${OF_KIND} --id o1`)).code).toBe(0);
    expectProblem(await admin('GET', 'records/purchase/o1'), 400, 'invalid-request');
  });

  it('are deleted by `record delete`, and erased over HTTP and by `record erase`', async () => {
    expect((await commands.run(`record delete ${OF_KIND} --id o4`)).code).toBe(0);
    const erased = await admin('POST', 'erasures', { body: { kind: 'order', id: 'o3' } });
    expect(erased.status).toBe(201);
    expect([0, 3]).toContain((await commands.run(`record erase ${OF_KIND} --id o2 --wait 0`)).code);
    await service.watcher.caughtUp();
    expect(idsOf(await app.hardDeletes('order').drain())).toEqual(['new', 'o2', 'o3', 'o4']);
    expect(idsOf((await orders().find().toArray()) as never)).toEqual(['o1']);
    expect(await commands.json(`record erasures ${OF_APP} --id o3`)).toHaveLength(1);
    const { errors } = expectProblem(
      await admin('POST', 'erasures', { body: { kind: 'purchase', id: 'o3' } }),
      ...([400, 'invalid-request'] as const),
    );
    expect(errors).toEqual([{ pointer: '/kind', detail: 'is not one of member, product, order.' }]);
  });
});

describe('Consumers of a created kind', () => {
  it('are listed, as long as the kind exists', async () => {
    await app.feed('order').drain();
    await service.app.get(ConsumerNotes, { strict: false }).flush();
    const listed = { kind: 'order', service: 'default', username: app.user('read') };
    const all = await commands.json<object[]>(`consumer list ${OF_APP}`);
    expect(all).toContainEqual(expect.objectContaining(listed));
    const url = `${service.url}/admin/v1/consumers`;
    expect((await send(url, 'GET', { user: root })).json).toMatchObject({
      result: expect.arrayContaining([expect.objectContaining(listed)]) as object[],
    });
    // As an operator does by hand.
    await service.db.collection('kinds').deleteMany({});
    await eventually(async () => (await app.get('order/max')).status === 404);
    const { status, json } = await send(url, 'GET', { user: root });
    expect(status).toBe(200);
    expect((json as { result: { kind: string }[] }).result.filter(({ kind }) => kind === 'order')).toEqual(
      [],
    );
  });

  it('`application remove --purge` takes the records of the kind, and says so', async () => {
    await commands.run('kind create --name order --collection orders');
    await orders().insertOne(order('last', 1));
    expect(await commands.failure(`application remove ${OF_APP}`)).toContain('still has orders.');
    const { output } = await commands.run(`application remove ${OF_APP} --purge`);
    expect(output).toBe('The application acme/shop is removed, with 0 members, 0 products and 2 orders.');
    expect(await orders().countDocuments()).toBe(0);
  });

  it('`application remove --purge --json` counts kinds with the same plural apart', async () => {
    const twin = await service.application({ organizationid: 'acme', appid: 'twin' });
    await commands.run('kind create --name purchase --collection purchases --plural orders');
    await orders().insertOne({ ...order('one', 1), ...twin.tenant });
    await service.db.collection('purchases').insertMany(['a', 'b'].map((id) => ({ ...twin.tenant, id })));
    expect(await commands.json('application remove --org acme --app twin --purge')).toEqual({
      ...twin.tenant,
      removed: { members: 0, products: 0, orders: 1, purchases: 2 },
    });
  });
});
