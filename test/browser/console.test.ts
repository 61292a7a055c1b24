import { type Page } from 'playwright-core';
import { eventually, send, type TestApplication, TestService } from '../support/index.js';
import { VERSION } from '../support/build.js';
import { ConsoleBrowser, violationsIn } from './browser.js';

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.start();
  browser = await ConsoleBrowser.start(service.url);
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  await app.products(6, (index) => ({ id: `p${index}`, data: { category: index < 4 ? 'bikes' : 'tents' } }));
  await service.watcher.caughtUp();
});
afterAll(async () => {
  await browser?.stop();
  await service?.stop();
});
afterEach(() => expect(browser.faults.splice(0)).toEqual([]));

const place = () => `/applications/${app.organizationid}/${app.appid}`;
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

/** Takes the place of everything in the editor. */
async function writeFilter(page: Page, filter: string): Promise<void> {
  await page.getByLabel('Filter, as JSON').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(filter);
}

/** Clicks what asks, and then what does, once it is known what that is. Tells what was said. */
async function confirm(page: Page, asking: string | RegExp, doing: string): Promise<string> {
  await button(page, asking).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  let text = '';
  // What was typed last may be previewed only now: then what was known is unknown again for a while.
  await eventually(async () => !(text = await dialog.innerText()).includes('is not known yet'));
  await dialog.getByRole('button', { name: doing, exact: true }).click();
  return text;
}

async function harvest(page: Page, service: string, from = ''): Promise<string[]> {
  await page.getByLabel('Service').selectOption(service);
  await page.getByLabel('From').fill(from);
  await button(page, 'Harvest').click();
  await page.getByText(/^Done:/).waitFor();
  return page
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading') })
    .allInnerTexts();
}

describe('From a filter to its consumer', () => {
  let page: Page;
  let reached: string;
  beforeAll(async () => {
    page = await browser.openAs(root);
  });

  it('a service is registered after its preview was seen', async () => {
    await browser.goTo(page, `${place()}/product`);
    await page.getByLabel('Name', { exact: true }).fill('bikes');
    await writeFilter(page, '{"data.category": "bikes"}');
    await page.getByText('4 of 6 records match').waitFor();
    for (const id of ['p0', 'p3', 'p5']) await page.getByText(id, { exact: true }).waitFor();
    expect(await confirm(page, 'Register…', 'Register')).toContain('4 records will be in its updates');
    await page.getByRole('heading', { name: 'product service bikes' }).waitFor();
    expect(await page.getByRole('contentinfo').innerText()).toBe(`Tidemark ${VERSION}`);
    expect(await service.db.collection('services').findOne({ name: 'bikes' })).toMatchObject({
      ...{ ...app.tenant, kind: 'product', filter: { 'data.category': 'bikes' }, enabled: true },
    });
  });

  it('a credential is issued, and what it gets is harvested as it', async () => {
    await browser.goTo(page, '/credentials');
    await page.getByLabel('User name').fill('search');
    await page.getByLabel('Organization').fill(app.organizationid);
    await page.getByLabel('Application').fill(app.appid);
    await button(page, 'Issue').click();
    const password = await page.locator('[data-secret]').innerText();
    await button(page, 'I have it').click();
    await service.heard();
    const max = `${service.url}/${app.organizationid}/${app.appid}/api/v1/product/max`;
    expect((await send(max, 'GET', { user: 'search', password })).status).toBe(200);

    await page
      .getByRole('row', { name: /^search / })
      .getByRole('link', { name: 'Explore' })
      .click();
    const steps = await harvest(page, 'bikes');
    expect(steps).toHaveLength(4);
    expect(steps[1]).toContain('4 items');
    expect(steps[1]).toContain(`curl -u 'search' '${service.url}/${app.organizationid}/`);
    expect(steps[2]).toContain('2 items');
    expect(steps[3]).toContain('0 items');
    reached = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(steps[0]!)![0];
  });

  it('a hard delete arrives', async () => {
    const gone = await service.db.collection('products').findOne({ id: 'p0' });
    await app.remove('product', gone as never);
    await service.watcher.caughtUp();
    const steps = await harvest(page, 'bikes', reached);
    expect(steps[1]).toContain('0 items');
    expect(steps[3]).toContain('1 item');
    await page.getByText('Show 1 item').click();
    expect(await page.getByRole('region', { name: 'Items: Gone, page 1' }).innerText()).toContain('"p0"');
  });

  it('why a record is gone is found by its id', async () => {
    await page.getByLabel('Id of a record').fill('p0');
    await page.keyboard.press('Enter');
    await page.getByText('It is in the hard deletes.').waitFor();
    await page.getByLabel('Id of a record').fill('p4');
    await page.keyboard.press('Enter');
    await page.getByText('It is in the feeds.').waitFor();
    await page.getByText('bikes does not match').waitFor();
  });

  it('a filter is edited, and its consumers get the difference', async () => {
    await browser.goTo(page, `${place()}/product/bikes`);
    await page.getByText('3 of 5 records match').waitFor();
    await writeFilter(page, '{"data.category": {"$in": ["tents", "boats"]}}');
    await page.getByText('Saving it delivers 5 records again.').waitFor();
    expect(await confirm(page, 'Save…', 'Save')).toContain(
      '5 records will be delivered again: 2 records enter and 3 records leave.',
    );
    await page.getByText('Saving it moves no record.').waitFor();
    await eventually(async () => {
      await service.watcher.caughtUp();
      await browser.goTo(page, '/explorer?as=search');
      const steps = await harvest(page, 'bikes', reached);
      return steps[1]!.includes('2 items') && steps[2]!.includes('3 items');
    });
  });

  it('and why a record was delivered again is found by its id', async () => {
    const restamps = page.getByRole('table', { name: 'Re-stamps of product p4' });
    const edited = 'A change to the product service "bikes" affects whether or how it delivers the record.';
    await eventually(async () => {
      await browser.goTo(page, '/search?id=p4');
      await page.getByRole('heading', { name: 'Stamped anew' }).waitFor();
      await page.waitForLoadState('networkidle');
      return (await restamps.getByRole('cell', { name: edited }).count()) > 0;
    });
    expect(await restamps.getByRole('row').first().innerText()).toMatch(/When\s+What\s+Reason\s+Why/);
    expect(await violationsIn(page)).toEqual([]);
  });

  it('the preview warns of a field that no record has, and says whether an index serves it and which to make', async () => {
    await browser.goTo(page, `${place()}/product/bikes`);
    await page.getByText('2 of 5 records match').waitFor();
    await writeFilter(page, '{"category": "bikes"}');
    await page
      .getByText('No product has the field "category"; write "data.category", which some have.')
      .waitFor();
    await page.getByText('No index serves it: every record is read.').waitFor();
    const command = page.getByRole('region', { name: 'Command: make the index' });
    expect(await command.count()).toBe(0);
    await writeFilter(page, '{"data.category": "bikes"}');
    expect(await command.innerText()).toContain(
      `service index --org ${app.organizationid} --app ${app.appid} --kind product --filter '{"data.category":"bikes"}'`,
    );
    expect(await violationsIn(page)).toEqual([]);
    const key = { organizationid: 1, appid: 1, 'data.category': 1 } as const;
    const index = await service.db.collection('products').createIndex(key);
    await writeFilter(page, '{"data.category": "tents"}');
    await page.getByText(`Served by the index ${index}`).waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await service.db.collection('products').dropIndex(index);
  });

  it('a wrong filter is marked at its place and cannot be saved', async () => {
    await browser.goTo(page, `${place()}/product/bikes`);
    await page.getByText('2 of 5 records match').waitFor();
    await writeFilter(page, '{"data.category": {"$within": 5}}');
    await page
      .getByText(/"?\$within"? .*at data.category/)
      .first()
      .waitFor();
    expect(await page.locator('.cm-lintRange-error').innerText()).toContain('data.category');
    expect(await button(page, 'Save…').isDisabled()).toBe(true);
    await writeFilter(page, '{"data.category": ');
    await page.getByText('This is not a JSON object yet.').waitFor();
    expect(await button(page, 'Save…').isDisabled()).toBe(true);
  });

  it('a change of somebody else meanwhile is told, and nothing is saved over it', async () => {
    await browser.goTo(page, `${place()}/product/bikes`);
    await page.getByText('2 of 5 records match').waitFor();
    const services = service.db.collection('services');
    await services.updateOne({ name: 'bikes' }, { $set: { description: 'of somebody else' } });
    await confirm(page, 'Save…', 'Save');
    await page.getByText('Somebody else has changed it meanwhile.').waitFor();
    expect(await services.findOne({ name: 'bikes' })).toMatchObject({ description: 'of somebody else' });
  });

  it('a credential is revoked', async () => {
    await browser.goTo(page, '/credentials');
    const row = page.getByRole('row', { name: /^search / });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await button(page, 'Revoke search').click();
    await row.waitFor({ state: 'detached' });
    // The button that had the keyboard is gone.
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('H1');
    expect(await service.db.collection('credentials').findOne({ username: 'search' })).toBeNull();
  });

  it('and the audit trail has all of it', async () => {
    await browser.goTo(page, '/trail');
    for (const deed of ['service.set', 'credential.issue', 'credential.revoke'])
      await page.getByRole('cell', { name: deed }).first().waitFor();
  });
});
