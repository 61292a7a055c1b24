import { mongo } from 'mongoose';
import { send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';

let service: TestService;
let app: TestApplication;
let admin: AdminConsole;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  admin = new AdminConsole(service.uri);
  await app.filter('product', 'red', { 'data.color': 'red' });
  await app.filter('product', 'blue', { 'data.color': 'blue' });
});

const story = async (id: string, kind = 'product') => {
  const path = `admin/v1/applications/${app.organizationid}/${app.appid}/records/${kind}`;
  const url = `${service.url}/${path}/${encodeURIComponent(id)}`;
  return (await send(url, 'GET', { user: app.user('admin') })).json;
};
const show = (id: string) =>
  admin.run(`record show --org ${app.organizationid} --app ${app.appid} --kind product --id ${id}`);

describe('Why is a record there, or gone?', () => {
  it('one that is alive: its stamp, the record and the services that match it', async () => {
    const { lastupdated } = await app.product({ id: 'alive', data: { color: 'red' } });
    await service.watcher.caughtUp();
    expect(await story('alive')).toMatchObject({
      ...{ ...app.tenant, kind: 'product', id: 'alive', state: 'alive' },
      lastupdated: (lastupdated as Date).toISOString(),
      record: { data: { color: 'red' } },
      services: [
        { name: 'blue', matches: false },
        { name: 'red', matches: true },
      ],
    });
    const { output } = await show('alive');
    expect(output).toContain('Service blue: does not match, so it is in softdeletes');
    expect(output).toContain('Service red: matches, so it is in updates');
  });

  it('one that is gone: since the stamp of its hard delete', async () => {
    await app.remove('product', await app.product({ id: 'gone' }));
    const [item] = (await app.hardDeletes('product').page()).items as { id: string; lastUpdated: string }[];
    expect(item?.id).toBe('gone');
    expect(await story('gone')).toMatchObject({
      ...{ state: 'gone', lastupdated: item?.lastUpdated, record: null, services: [] },
    });
    expect((await show('gone')).output).toBe(
      `The product "gone" was deleted; the stamp of its hard delete is ${item?.lastUpdated}. ` +
        'Windows of harddeletes that contain this stamp deliver it.',
    );
  });

  it('one whose id is a number, under its decimal text', async () => {
    await app.product({ id: 4711 });
    await service.watcher.caughtUp();
    expect(await story('4711')).toMatchObject({ state: 'alive', record: { id: 4711 } });
  });

  it('one that is in no feed: the services that match it do not deliver it either', async () => {
    await app.product({ _id: 5, id: 'ignored', data: { color: 'red' } });
    await service.watcher.caughtUp();
    expect(await story('ignored')).toMatchObject({ state: 'not yet known' });
    const [standing, blue, red] = (await show('ignored')).output.split('\n');
    expect(standing).toMatch(/^The product "ignored" is stored, but not in the feeds: /);
    expect([blue, red]).toEqual(['Service blue: does not match', 'Service red: matches']);
  });

  it('one with a value that drivers refuse, and one that looks like a reference', async () => {
    const odd = Buffer.concat([Buffer.of(0x0b), Buffer.from('odd\0x\0g\0')]);
    const reference = { $ref: 'shop.items', $id: 5 };
    const bytes = Buffer.concat([rawDocument([['reference', reference]]).subarray(0, -1), odd, Buffer.of(0)]);
    bytes.writeInt32LE(bytes.length);
    const record = {
      _id: new mongo.ObjectId(),
      ...app.tenant,
      id: 'odd',
      lastupdated: new Date(),
      data: bytes,
    };
    await insertRaw(service.uri, 'products', rawDocument(Object.entries(record)));
    await service.watcher.caughtUp();
    const data = { reference, odd: { $regularExpression: { pattern: 'x', options: 'g' } } };
    expect(await story('odd')).toMatchObject({ state: 'alive', record: { data } });
    expect((await show('odd')).code).toBe(0);
  });

  it('one with a field by which the driver knows its own classes', async () => {
    const typed = Buffer.from('\x19\0\0\0\x02_bsontype\0\x05\0\0\0Long\0\0', 'latin1');
    const record = { _id: new mongo.ObjectId(), ...app.tenant, id: 'typed', lastupdated: new Date() };
    const data = rawDocument([['typed', typed]]);
    await insertRaw(service.uri, 'products', rawDocument(Object.entries({ ...record, data })));
    await service.watcher.caughtUp();
    expect(await story('typed')).toMatchObject({
      ...{ state: 'alive', record: { data: { typed: { _bsontype: 'Long' } } } },
    });
  });

  it('one that nobody ever had', async () => {
    expect(await story('never')).toMatchObject({ state: 'unknown', lastupdated: null, record: null });
    expect(await story('never', 'order')).toMatchObject({ status: 400 });
  });

  it('a password hash is not shown', async () => {
    await app.member({ id: 'secret', data: { email: 'a@b.c', passwordhash: '$argon2id$x' } });
    await service.watcher.caughtUp();
    expect(JSON.stringify(await story('secret', 'member'))).not.toMatch(/argon2id|emailkey/);
  });
});
