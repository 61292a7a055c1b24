import { type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let admin: AdminConsole;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
});

const named = ({ organizationid, appid }: TestApplication) => `--org ${organizationid} --app ${appid}`;

describe('`application create|list|remove --org --app [--title]`', () => {
  it('creates an application that the service knows at once', async () => {
    const said = await admin.run([
      'application',
      'create',
      '--org',
      'acme',
      '--app',
      'web',
      '--title',
      'Web shop',
    ]);
    expect(said).toEqual({ code: 0, output: 'The application acme/web is registered.', errors: [] });
    const listed = await admin.json<object[]>('application list');
    expect(listed).toContainEqual({
      ...{ organizationid: 'acme', appid: 'web', title: 'Web shop' },
      state: 'valid',
    });
    expect((await admin.run('application list')).output).toMatch(/^acme +web +Web shop +valid$/m);
  });

  it('refuses a second one of the same name', async () => {
    await admin.run('application create --org acme --app twice');
    expect(await admin.failure('application create --org acme --app twice')).toBe(
      'The application acme/twice already exists.',
    );
  });

  it.each(['-x', 'a/b', 'ä', 'x'.repeat(65)])('refuses the name %s', async (name) => {
    expect(await admin.failure(['application', 'create', `--org=${name}`, '--app', 'web'])).toContain(
      'must start with a letter or digit and have at most 64',
    );
  });

  it('`remove` refuses while records exist', async () => {
    const app = await service.application();
    await app.member({ id: 'm' });
    expect(await admin.failure(`application remove ${named(app)}`)).toContain(
      'still has members. With --purge',
    );
    await app.product({ id: 'p' });
    expect(await admin.failure(`application remove ${named(app)}`)).toContain(
      'still has members and products.',
    );
    expect((await app.get('product/max')).status).toBe(200);
  });

  it('`remove` takes the services with it, so that they do not come back with the name', async () => {
    const app = await service.application();
    await app.filter('product', 'red', { 'data.color': 'red' });
    expect((await admin.run(`application remove ${named(app)}`)).code).toBe(0);
    expect(await service.db.collection('services').countDocuments(app.tenant)).toBe(0);
    expect((await app.get('product/max')).status).toBe(404);
  });

  it('`--purge` removes the records too: of this application only, and they become hard deletes', async () => {
    const [app, other] = [await service.application(), await service.application()];
    await Promise.all([app.member({ id: 'm' }), app.products(1500), other.product({ id: 'kept' })]);
    await service.watcher.caughtUp();
    const removed = await admin.json(`application remove ${named(app)} --purge`);
    expect(removed).toEqual({ ...app.tenant, removed: { members: 1, products: 1500 } });
    await service.watcher.caughtUp();
    await admin.run(`application create ${named(app)}`);
    expect(await app.hardDeletes('product').drain()).toHaveLength(1500);
    expect((await other.feed('product').page()).ids).toEqual(['kept']);
  });

  it('`--purge` leaves alone what belongs to nobody', async () => {
    const app = await service.application();
    const strange = { ...app.tenant, organizationid: [app.organizationid] };
    await service.db.collection('products').insertOne(strange);
    expect((await admin.run(`application remove ${named(app)} --purge`)).code).toBe(0);
    expect(await service.db.collection('products').countDocuments(strange)).toBe(1);
  });

  it('`remove` of what does not exist is an error', async () => {
    expect(await admin.failure('application remove --org no --app where --purge')).toContain(
      'There is no application no/where',
    );
  });
});
