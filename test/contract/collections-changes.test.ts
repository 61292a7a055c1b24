import { hashPassword } from '../../src/auth/index.js';
import { expectProblem, type TestApplication, TestService } from '../support/index.js';

let first: TestService;
let second: TestService;
let app: TestApplication;
/** The same application as each of the two instances shows it. */
let views: TestApplication[];

beforeAll(async () => {
  first = await TestService.start();
  second = await first.another();
});
beforeEach(async () => {
  app = await first.application();
  views = [app, app.seenBy(second)];
});
afterAll(async () => {
  await second.leave();
  await first.stop();
});

const statuses = async (path: string, options?: Parameters<TestApplication['get']>[1]) => {
  const answers = await Promise.all(
    views.map((view) => view.get(path, { query: { to: '2999-01-01' }, ...options })),
  );
  return answers.map(({ status }) => status);
};
const ids = async (path: string) => {
  const answers = await Promise.all(views.map((view) => view.get(path, { query: { to: '2999-01-01' } })));
  return answers.map(({ json }) => (json as { result: { id: string }[] }).result.map(({ id }) => id));
};
/** Both instances have heard of what was written. */
const heard = () => Promise.all([first.heard(), second.heard()]);
async function setApplication(update: object): Promise<void> {
  await first.db.collection('applications').updateOne(app.tenant, update);
  await heard();
}
async function setService(name: string, update: object): Promise<void> {
  await first.db.collection('services').updateOne({ ...app.tenant, name }, update);
  await first.watcher.caughtUp();
  await heard();
}

describe('A change to `applications` takes effect with no restart, in every running instance', () => {
  it('a new one, one that is removed, one that comes back', async () => {
    expect(await statuses('product/max')).toEqual([200, 200]);
    await first.db.collection('applications').deleteOne(app.tenant);
    await heard();
    expect(await statuses('product/max')).toEqual([404, 404]);
    await first.db.collection('applications').insertOne({ ...app.tenant, title: 'Shop' });
    expect(await statuses('product/max')).toEqual([200, 200]);
  });

  it('`settings.replicatepasswordhash`', async () => {
    await app.member({ data: { passwordhash: 'secret' } });
    const shown = async () => {
      const pages = await Promise.all(views.map((view) => view.feed('member').page()));
      return pages.map(({ items }) => items[0]?.data?.['passwordhash']);
    };
    expect(await shown()).toEqual([undefined, undefined]);
    await setApplication({ $set: { settings: { replicatepasswordhash: true } } });
    expect(await shown()).toEqual(['secret', 'secret']);
    await setApplication({ $unset: { settings: '' } });
    expect(await shown()).toEqual([undefined, undefined]);
  });
});

describe('A change to `services` takes effect with no restart, in every running instance', () => {
  const PATH = 'product/own/updates';

  it('a new one, another filter, another name, one that is removed', async () => {
    await app.product({ id: 'red', data: { color: 'red' } });
    await app.product({ id: 'blue', data: { color: 'blue' } });
    expect(await statuses(PATH)).toEqual([404, 404]);
    await app.filter('product', 'own', { 'data.color': 'red' });
    expect(await ids(PATH)).toEqual([['red'], ['red']]);
    await setService('own', { $set: { filter: { 'data.color': 'blue' } } });
    expect(await ids(PATH)).toEqual([['blue'], ['blue']]);
    await setService('own', { $set: { name: 'renamed' } });
    expect(await statuses(PATH)).toEqual([404, 404]);
    expect(await ids('product/renamed/updates')).toEqual([['blue'], ['blue']]);
    await first.db.collection('services').deleteOne(app.tenant);
    await first.watcher.caughtUp();
    await heard();
    expect(await statuses('product/renamed/updates')).toEqual([404, 404]);
  });

  it('`enabled: false`: as if it were not there; and enabled again', async () => {
    await app.filter('product', 'own', {}, { enabled: true, description: 'All there is' });
    expect(await statuses(PATH)).toEqual([200, 200]);
    await setService('own', { $set: { enabled: false } });
    expect(await statuses(PATH)).toEqual([404, 404]);
    await setService('own', { $unset: { enabled: '' } });
    expect(await statuses(PATH)).toEqual([200, 200]);
  });

  it('a filter that becomes invalid, and valid again', async () => {
    await app.filter('product', 'own', {});
    await setService('own', { $set: { filter: { a: { $type: 'nothing' } } } });
    expect(await statuses(PATH)).toEqual([500, 500]);
    await setService('own', { $set: { filter: {} } });
    expect(await statuses(PATH)).toEqual([200, 200]);
  });
});

describe('A change to `credentials` takes effect with no restart, in every running instance', () => {
  it('a new one, one that is disabled, one with another password, one that is removed', async () => {
    const credentials = first.db.collection('credentials');
    const user = 'changing';
    const options = { user, password: 'one' };
    expect(await statuses('product/max', options)).toEqual([401, 401]);
    await app.credential({ username: user, passwordhash: await hashPassword('one') });
    expect(await statuses('product/max', options)).toEqual([200, 200]);
    await credentials.updateOne({ username: user }, { $set: { disabled: true } });
    await heard();
    expect(await statuses('product/max', options)).toEqual([401, 401]);
    const passwordhash = await hashPassword('two');
    await credentials.updateOne({ username: user }, { $set: { disabled: false, passwordhash } });
    await heard();
    expect(await statuses('product/max', options)).toEqual([401, 401]);
    expect(await statuses('product/max', { user, password: 'two' })).toEqual([200, 200]);
    await credentials.deleteOne({ username: user });
    await heard();
    expect(await statuses('product/max', { user, password: 'two' })).toEqual([401, 401]);
  });
});

describe('`default`, which needs no registration and filters nothing', () => {
  it('not even where somebody registers a service of that name', async () => {
    const product = await app.product();
    await app.filter('product', 'default', { id: 'nothing' });
    expect(await ids('product/default/updates')).toEqual([[product['id']], [product['id']]]);
    await setService('default', { $set: { enabled: false, filter: { $where: '1' } } });
    expect(await ids('product/default/updates')).toEqual([[product['id']], [product['id']]]);
    expect(await ids('product/default/softdeletes')).toEqual([[], []]);
  });
});

it('products have no write endpoint', async () => {
  for (const [method, path] of [
    ['POST', 'product'],
    ['PUT', 'product/x'],
    ['PATCH', 'product/x'],
    ['DELETE', 'product/x'],
  ] as const)
    expectProblem(await app.send(method, `api/v0.1/${path}`, { body: {} }), 404, 'not-found');
});
