import { eventually, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser, violationsIn } from './browser.js';

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.alone();
  browser = await ConsoleBrowser.start(service.url);
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(async () => {
  await browser?.stop();
  await service?.stop();
});
afterEach(() => expect(browser.faults.splice(0)).toEqual([]));

it('a kind is created, its faults stand next to their fields, it is in every choice, and is removed', async () => {
  await service.db.collection('orders').insertOne({ ...app.tenant, id: 'o1', data: {} });
  const page = await browser.openAs(root);
  await page.getByRole('link', { name: 'Kinds' }).click();
  await page.getByRole('heading', { name: 'Create a kind' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Create a kind' }).waitFor();

  const name = page.getByLabel('Name', { exact: true });
  const collection = page.getByLabel('Collection', { exact: true });
  await name.fill('Order');
  await collection.fill('members');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('must begin with a lower-case letter').waitFor();
  await page.getByText('is the collection of the kind "member"').waitFor();
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  expect(await violationsIn(page)).toEqual([]);
  expect(await service.db.collection('kinds').countDocuments()).toBe(0);

  await name.fill('order');
  await collection.fill('orders');
  await page.getByRole('button', { name: 'Create' }).click();
  const row = page.getByRole('row', { name: /^order / });
  await row.getByText('ready').waitFor();
  expect(await service.db.collection('kinds').findOne({}, { projection: { _id: 0 } })).toEqual({
    ...{ name: 'order', collection: 'orders' },
  });

  await page.getByRole('link', { name: 'Explore a feed' }).click();
  const choice = page.getByLabel('Kind', { exact: true });
  await choice.waitFor();
  expect(await choice.getByRole('option').allInnerTexts()).toEqual(
    expect.arrayContaining(['member', 'product', 'order']),
  );

  await page.getByRole('link', { name: 'Kinds' }).click();
  const services = service.db.collection('services');
  await services.insertOne({ ...app.tenant, kind: 'order', name: 'large', filter: {} });
  await row.getByRole('button', { name: 'Remove' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Remove order' }).click();
  await dialog.getByText('The kind "order" still has services.').waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByLabel('With its services and consumers').check();
  await dialog.getByRole('button', { name: 'Remove order' }).click();
  await eventually(async () => (await service.db.collection('kinds').countDocuments()) === 0);
  await row.waitFor({ state: 'detached' });
  expect(await services.countDocuments({ kind: 'order' })).toBe(0);
});

it('a kind of one application keeps no record of others from being found, and is no kind of theirs', async () => {
  const other = await service.application();
  await service.db.collection('bookings').insertOne({ number: 'b1' });
  await app.product({ id: 'p1' });
  await service.watcher.caughtUp();
  const page = await browser.openAs(root);
  await browser.view(page, '/kinds', 'Create a kind');
  const texts = [
    ['Name', 'booking'],
    ['Collection', 'bookings'],
    ['Field of the id', 'number'],
    ['Organization', app.organizationid],
    ['Application', app.appid],
  ];
  for (const [label, text] of texts) await page.getByLabel(label!, { exact: true }).fill(text!);
  const [channels, data] = [/holds the channels/, /have a field data/].map((label) => page.getByLabel(label));
  await channels!.check();
  await data!.uncheck();
  await page.getByRole('button', { name: 'Create' }).click();
  await page
    .getByRole('row', { name: /^booking / })
    .getByText('ready')
    .waitFor();
  // The next one begins anew.
  expect([await channels!.isChecked(), await data!.isChecked()]).toEqual([false, true]);
  await browser.view(page, '/search?id=p1', 'It is in the feeds.');
  const servicesOf = ({ organizationid, appid }: TestApplication) =>
    browser.view(page, `/applications/${organizationid}/${appid}`, 'New product service');
  expect(await servicesOf(app)).toContain('New booking service');
  expect(await servicesOf(other)).not.toContain('booking');
});

it('an administrator of one application has no such page', async () => {
  const page = await browser.openAs(app.user('admin'));
  expect(await page.getByRole('link', { name: 'Kinds' }).count()).toBe(0);
});
