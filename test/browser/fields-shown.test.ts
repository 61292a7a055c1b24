import type { Page } from 'playwright-core';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser, violationsIn } from './browser.js';
import { ServicePage } from './service-page.js';

const CANARY = 'canary-5d20c7';

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let root: string;
let page: Page;
let on: ServicePage;

beforeAll(async () => {
  service = await TestService.shared();
  browser = await ConsoleBrowser.start(service.url);
  const owner = await service.application();
  root = await owner.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(async () => {
  await browser?.stop();
});
beforeEach(async () => {
  app = await service.application();
  page = await browser.openAs(root);
  on = new ServicePage(page);
});
afterEach(async () => {
  await page.context().close();
  expect(browser.faults.splice(0)).toEqual([]);
});

const place = () => `/applications/${app.organizationid}/${app.appid}`;
const stored = (name: string) => service.db.collection('services').findOne({ ...app.tenant, name });
const open = (name: string) => browser.goTo(page, `${place()}/product/${name}`);

async function itemOf(name: string, id: string): Promise<unknown> {
  await service.watcher.caughtUp();
  const items = await app.feed('product', name).drain({ to: await app.max('product') });
  return items.find((item) => item.id === id)?.data;
}

describe('The service default', () => {
  beforeEach(async () => {
    await app.products(2, (index) => ({ id: `p${index}`, data: { n: index, ...(index < 1 && { m: 1 }) } }));
    await service.watcher.caughtUp();
  });

  it('is opened from the list, has no filter, and takes fields, until they are removed', async () => {
    await browser.goTo(page, place());
    await page.getByRole('link', { name: 'default' }).nth(1).click();
    await page.getByRole('heading', { name: 'product service default' }).waitFor();
    expect(await page.getByLabel('Filter, as JSON').count()).toBe(0);
    expect(await page.getByLabel('The filter may name a hidden field').count()).toBe(0);
    await on.choose('except');
    await on.left.fill('data.m');
    await on.shows('Saving it delivers 1 record again.');
    expect(await on.side('Before', 'p0').locator('del').allInnerTexts()).toEqual(['    "m": 1']);
    expect(await violationsIn(page)).toEqual([]);
    expect(await on.confirm('Save…', 'Save')).toContain('1 record will be delivered again');
    await on.shows('Fields that it shows: all except data.m');
    expect(await itemOf('default', 'p0')).toEqual({ n: 0 });

    await page.getByLabel('Enabled').uncheck();
    await on.shows('Saving it delivers 1 record again.');
    expect(await on.side('After', 'p0').locator('ins').allInnerTexts()).toEqual(['    "m": 1']);
    await page.getByRole('link', { name: 'All services of' }).click();
    await on.button('Leave').click();
    await page
      .getByRole('row', { name: /^default product/ })
      .getByRole('button', { name: 'Remove' })
      .click();
    await on.shows('It then shows all fields.');
    await on.button('Remove default').click();
    await eventually(async () => (await stored('default')) === null);
    expect(await itemOf('default', 'p0')).toEqual({ n: 0, m: 1 });
  });

  it('that somebody else has stored meanwhile is not replaced', async () => {
    await open('default');
    await on.choose('except');
    await on.left.fill('data.m');
    await on.shows('Saving it delivers 1 record again.');
    const theirs = { ...app.tenant, kind: 'product', name: 'default', fields: { except: ['data.n'] } };
    await service.db.collection('services').insertOne(theirs);
    await on.confirm('Save…', 'Save');
    await on.shows('Somebody else has changed it meanwhile.');
    await on.button('Read it again').click();
    await on.shows('Fields that it shows: all except data.n');
    expect(await on.left.inputValue()).toBe('data.n');
  });

  it('a new service cannot have its name, and of an unknown application there is none', async () => {
    await browser.goTo(page, `${place()}/product`);
    await page.getByLabel('Name', { exact: true }).fill('default');
    await on.shows('The name is reserved, as are max and harddeletes');
    expect(await on.button('Register…').isDisabled()).toBe(true);
    await browser.view(page, '/applications/nobody/nothing/product/default', 'There is no application');
    expect(await page.getByLabel('Description').count()).toBe(0);
  });
});

it('no byte of a hidden field comes to the page or is in it, before, while and after others are hidden', async () => {
  await app.products(4, (index) => ({
    id: `p${index}`,
    data: { n: 1, secret: CANARY, inner: { secret: CANARY, kept: 1 }, number: `${CANARY}-${index}` },
  }));
  const fields = { except: ['data.secret', 'data.inner.secret'], hash: ['data.number'] };
  await app.filter('product', 'bikes', {}, { fields });
  const looks = { all: 0, found: 0 };
  await page.exposeFunction('looked', (isFound: boolean) => {
    looks.all += 1;
    if (isFound) looks.found += 1;
  });
  await page.addInitScript(`
    new MutationObserver(() => {
      const typed = [...document.querySelectorAll('input, textarea')].map(({ value }) => value);
      looked((document.documentElement.outerHTML + typed).includes('${CANARY}'));
    }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });`);
  const answers: string[] = [];
  page.on('response', (response) => {
    void response.text().then(
      (text) => answers.push(text),
      () => undefined,
    );
  });
  await open('bikes');
  await on.shows('4 of 4 records match');
  // The hashes first: between the two, a preview must not be of a version that shows `data.inner`.
  await on.hashed.fill('data.number\ndata.inner');
  await on.left.fill('data.secret\ndata.n');
  await on.shows('Saving it delivers 4 records again.');
  await on.side('After', 'p0').waitFor();
  await on.confirm('Save…', 'Save');
  await on.shows('all except data.secret, data.n; hashed: data.number, data.inner');
  await browser.goTo(page, place());
  await on.shows('all except data.secret');
  await browser.goTo(page, `/explorer?as=${root}`);
  await page.getByLabel('Application').selectOption(`${app.organizationid}/${app.appid}`);
  await page.getByLabel('Service').selectOption('bikes');
  await service.watcher.caughtUp();
  await on.button('Harvest').click();
  await on.shows(/^Done: 4 items/);
  await page.getByText('Show 4 items').click();
  expect(await page.getByRole('region', { name: 'Items: Changed and matching, page 1' }).innerText()).toMatch(
    /"inner": "[\w-]{22}"/,
  );
  expect(looks.found).toBe(0);
  expect(looks.all).toBeGreaterThan(10);
  expect(answers.length).toBeGreaterThan(10);
  for (const answer of answers) expect(answer).not.toContain(CANARY);
});

it('the key of the hashes is rotated after it was said what that does', async () => {
  await app.product({ id: 'p0', data: { number: 5 } });
  await app.filter('product', 'bikes', {}, { hash: ['data.number'] });
  const before = await itemOf('bikes', 'p0');
  await browser.goTo(page, place());
  const said = await on.confirm('Rotate the key…', 'Rotate the key');
  expect(said).toContain('Hashed values will be delivered again under a new hash.');
  await on.shows('The key was rotated.');
  await eventually(async () => {
    const after = await itemOf('bikes', 'p0');
    return JSON.stringify(after) !== JSON.stringify(before) && after !== undefined;
  });
  expect(await itemOf('bikes', 'p0')).toEqual({ number: expect.stringMatching(/^[\w-]{22}$/) });
  await browser.view(page, '/trail', 'application.rekey');
});
