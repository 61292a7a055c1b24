import { expectProblem, TestService, type TestApplication } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
  app = await service.application();
});

const words = (command: string, kind: string, id?: string) => [
  ...[...command.split(' '), '--org', app.organizationid, '--app', app.appid, '--kind', kind],
  ...(id === undefined ? [] : ['--id', id]),
];

describe('`record delete --org --app --kind --id`', () => {
  it('deletes one record, and consumers learn it from harddeletes', async () => {
    await Promise.all([app.product({ id: 'a b' }), app.product({ id: 'kept' }), app.member({ id: 'a b' })]);
    await service.watcher.caughtUp();
    expect((await admin.run(words('record delete', 'product', 'a b'))).code).toBe(0);
    await service.watcher.caughtUp();
    expect((await app.hardDeletes('product').page()).ids).toEqual(['a b']);
    expect((await app.feed('product').page()).ids).toEqual(['kept']);
    expect((await app.feed('member').page()).ids).toEqual(['a b']);
  });

  it('of an `id` that is stored as a number deletes the record that is delivered under it', async () => {
    const delivered = await app.product({ id: 17 });
    await service.watcher.caughtUp();
    await app.product({ id: 17 });
    await service.watcher.caughtUp();
    expect((await admin.run(words('record delete', 'product', '17'))).code).toBe(0);
    const products = service.db.collection('products');
    expect(await products.countDocuments({ _id: delivered._id })).toBe(0);
    expect(await products.countDocuments({ ...app.tenant, id: 17 })).toBe(1);
  });

  it('of what does not exist is an error', async () => {
    expect(await admin.failure(words('record delete', 'member', 'nobody'))).toBe(
      `There is no member "nobody" in ${app.organizationid}/${app.appid}.`,
    );
  });

  it('a deleted member is unknown at once', async () => {
    await app.member({ id: 'm' });
    await admin.run(words('record delete', 'member', 'm'));
    expectProblem(await app.send('GET', 'api/v0.1/member/m'), 404, 'unknown-member');
  });
});
