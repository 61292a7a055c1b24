import type { Page } from 'playwright-core';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser, violationsIn } from './browser.js';
import { ServicePage } from './service-page.js';

const NARROW = { width: 320, height: 700 };

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

describe('The fields of a service', () => {
  beforeEach(async () => {
    await app.products(3, (index) => ({
      id: `p${index}`,
      data: {
        name: `Bike ${index}`,
        rows: [{ price: index, cost: 1 }],
        ...(index < 2 && { email: 'a@b.c' }),
      },
    }));
    await app.filter('product', 'bikes', {});
    await open('bikes');
    await on.shows('3 of 3 records match');
  });

  it('are left out and hashed, after it was seen which records that changes, and how', async () => {
    await on.shows('Fields that it shows: all');
    await on.choose('except');
    await on.left.fill('data.email\n\n  data.rows.cost ');
    await on.hashed.fill('data.name');
    await on.shows('Saving it delivers 3 records again.');
    const [before, after] = [on.side('Before', 'p0'), on.side('After', 'p0')];
    expect(await before.locator('del').allInnerTexts()).toEqual([
      '    "name": "Bike 0",',
      '        "cost": 1',
      '    "email": "a@b.c"',
    ]);
    expect(await after.locator('ins').allInnerTexts()).toEqual(['    "name": "(hash)",']);
    expect(await on.side('After', 'p1').innerText()).toContain('"price": 1');
    await on.shows('Differs in data.name, data.rows.cost, data.email');
    expect(await page.getByRole('region', { name: /^After: / }).count()).toBe(3);
    expect(await violationsIn(page)).toEqual([]);
    expect(await on.confirm('Save…', 'Save')).toContain(
      '3 records will be delivered again: 3 records show other fields.',
    );
    await on.shows('all except data.email, data.rows.cost; hashed: data.name');
    expect(await stored('bikes')).toMatchObject({
      ...{ fields: { except: ['data.email', 'data.rows.cost'] }, hash: ['data.name'] },
    });
    await on.shows('Saving it moves no record.');
    expect(await page.getByRole('heading', { name: 'Records before and after' }).count()).toBe(0);
    expect(await itemOf('bikes', 'p0')).toEqual({
      ...{ name: expect.stringMatching(/^[\w-]{22}$/), rows: [{ price: 0 }] },
    });
  });

  it('and the list of services show them in short', async () => {
    await on.choose('only');
    await page
      .getByLabel('Only these fields')
      .fill('data.name\ncreatedBy\nchannels\ndata.rows.price\ndata.size');
    await on.shows('Saving it delivers 3 records again.');
    await on.confirm('Save…', 'Save');
    await on.shows('only data.name, createdBy, channels and 2 more');
    await page.getByRole('link', { name: 'All services of' }).click();
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} product`) });
    expect(await row('bikes').innerText()).toContain('only data.name, createdBy, channels and 2 more');
    expect(await row('default').innerText()).toMatch(/^default\s+product\s+matches everything\s+all\s+on/);
    expect(await row('default').getByRole('button').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
  });

  it.each([
    ['no path', 'data.email\n\nemail', 'The path in line 3 is "email", which is not a path'],
    ['a field that stays', 'lastupdated', 'The path in line 1 is "lastupdated", which stays in every item'],
    [
      'more than 200',
      Array.from({ length: 201 }, (_, n) => `data.n${n}`).join('\n'),
      'The list has 201 paths',
    ],
  ])('a list with %s is refused at its place', async (_name, text, detail) => {
    await on.choose('except');
    await on.left.fill(text);
    await on.shows(detail);
    expect(await on.left.getAttribute('aria-invalid')).toBe('true');
    expect(await on.left.getAttribute('aria-describedby')).toContain(
      await page.getByText(detail).getAttribute('id'),
    );
    expect(await on.hashed.getAttribute('aria-invalid')).toBe('false');
    expect(await on.save.isDisabled()).toBe(true);
    expect(await violationsIn(page)).toEqual([]);
    await on.left.fill('data.email');
    await on.shows('Saving it delivers 2 records again.');
    expect(await on.left.getAttribute('aria-invalid')).toBe('false');
    expect(await on.save.isDisabled()).toBe(false);
  });

  it('a path that is left out is not hashed too: the list of hashes says so', async () => {
    await on.choose('except');
    await on.left.fill('data.email');
    await on.hashed.fill('data.email');
    await on.shows('The list has "data.email", and "except" has "data.email"; keep one of them.');
    expect(await on.hashed.getAttribute('aria-invalid')).toBe('true');
    expect(await on.left.getAttribute('aria-invalid')).toBe('false');
  });

  it('a filter on a hidden field is refused at the filter, unless it may name one', async () => {
    await page.getByLabel('Filter, as JSON').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText('{"data.email": "a@b.c"}');
    await on.choose('except');
    await on.left.fill('data.email');
    await on.shows('The filter uses data.email, which the service hides');
    expect(await page.locator('.cm-lintRange-error').innerText()).toContain('data.email');
    expect(await on.save.isDisabled()).toBe(true);
    await page.getByLabel('The filter may name a hidden field').check();
    await on.shows('2 of 3 records match');
    await on.confirm('Save…', 'Save');
    await eventually(async () => (await stored('bikes'))?.['allowHiddenFilter'] === true);
  });

  it('stay as they are stored when something else is edited', async () => {
    const fields = { except: ['data.x ', 'data.email'], hash: ['data.name'] };
    const which = { ...app.tenant, name: 'bikes' };
    await service.db.collection('services').updateOne(which, { $set: { fields } });
    await open('bikes');
    await on.shows('all except data.x , data.email; hashed: data.name');
    expect(await on.left.inputValue()).toBe('"data.x "\ndata.email');
    await page.getByLabel('Description').fill('Bikes');
    await on.confirm('Save…', 'Save');
    expect(await stored('bikes')).toMatchObject({ description: 'Bikes', fields });
    await on.left.fill(`${await on.left.inputValue()}\ndata.y`);
    await on.confirm('Save…', 'Save');
    const { hash, ...lists } = fields;
    await eventually(async () => (await stored('bikes'))?.['hash'] !== undefined);
    expect(await stored('bikes')).toMatchObject({ fields: { except: [...lists.except, 'data.y'] }, hash });
    expect(await stored('bikes')).not.toHaveProperty('fields.hash');
  });

  it.each([
    ['text', 'none'],
    ['both lists', { only: ['data.a'], except: ['data.b'] }],
    ['an unknown property', { exept: ['data.a'] }],
    ['a list that is none', { except: 'data.a' }],
  ])('that cannot be read are named, and no field is shown by surprise: %s', async (_name, fields) => {
    const which = { ...app.tenant, name: 'bikes' };
    await service.db.collection('services').updateOne(which, { $set: { fields } });
    await open('bikes');
    await on.shows('The stored fields cannot be read, so that the service delivers nothing.');
    expect(await page.getByLabel('Only these fields').inputValue()).toBe('');
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel('Only these fields').fill('data.name');
    await on.confirm('Save…', 'Save');
    await on.shows('Fields that it shows: only data.name');
    expect(await stored('bikes')).toMatchObject({ fields: { only: ['data.name'] } });
  });

  it('the form and the records before and after fit a screen of 320 px, and axe finds nothing wrong', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const small = await browser.openAs(root, { colorScheme, viewport: NARROW });
      await browser.view(small, `${place()}/product/bikes`, '3 of 3 records match');
      await small.getByLabel('It shows', { exact: true }).selectOption('except');
      await small.getByLabel('Fields that it leaves out').fill(`data.email\ndata.${'long'.repeat(40)}`);
      await small.getByText('Records before and after').waitFor();
      const box = (title: string) => small.getByRole('region', { name: `${title}: p0` }).boundingBox();
      const [before, after] = [(await box('Before'))!, (await box('After'))!];
      expect(after.y).toBeGreaterThan(before.y + before.height);
      const tooWide = await small.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(tooWide).toBeLessThanOrEqual(0);
      expect(await violationsIn(small)).toEqual([]);
      await small.context().close();
    }
  });
});
