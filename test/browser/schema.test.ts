import type { Page } from 'playwright-core';
import { ConsumerNotes } from '../../src/replication/feed/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser, violationsIn } from './browser.js';

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let page: Page;

beforeAll(async () => {
  service = await TestService.start({ SCHEMA_PAUSE_MS: '100' });
  browser = await ConsoleBrowser.start(service.url);
  app = await service.application();
  const root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  page = await browser.openAs(root);
});
afterAll(async () => {
  await browser?.stop();
  await service.stop();
});

it('the page of a service shows the version of its schema and the last changes', async () => {
  await app.filter('product', 'erp', {}, { fields: { except: ['data.secret'] } });
  await app.products(25, () => ({ data: { n: 1, secret: 1 } }));
  await service.watcher.caughtUp();
  const place = `/applications/${app.organizationid}/${app.appid}/product/erp`;
  await browser.goTo(page, place);
  const section = page.getByRole('region', { name: 'Schema' });
  await section.getByText('from 25 records').waitFor({ timeout: 60_000 });
  await app.product({ data: { n: 'x', more: true, secret: 'x' } });
  await section.getByRole('cell', { name: 'data.more' }).waitFor({ timeout: 60_000 });
  const cells = await section.getByRole('row').allInnerTexts();
  expect(cells.map((row) => row.replace(/\s+/g, ' '))).toEqual([
    expect.stringContaining('Field What Types When Version'),
    expect.stringMatching(/data\.more appeared boolean .* \d/),
    expect.stringMatching(/data\.n changed its type integer → integer or string .* \d/),
  ]);
  expect(await section.innerText()).not.toContain('secret');
  expect(await violationsIn(page)).toEqual([]);

  await app.feed('product', 'erp').drain();
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  await browser.goTo(page, '/consumers');
  const consumer = page.getByRole('row', { name: `${app.organizationid}/${app.appid} product erp` });
  await consumer.getByText('appeared').waitFor();
  await consumer.getByRole('link', { name: 'data.more' }).click();
  await section.waitFor();
  expect(await violationsIn(page)).toEqual([]);
  expect(browser.faults.splice(0)).toEqual([]);
});

it('whether the schema has examples is a setting of the service, and other edits keep it', async () => {
  await app.filter('product', 'shop', {});
  await app.product({ data: { brand: 'Acme' } });
  const place = `/applications/${app.organizationid}/${app.appid}/product/shop`;
  await browser.goTo(page, place);
  const examples = page.getByLabel('Examples in the schema');
  const save = async () => {
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const stored = () => service.db.collection('services').findOne({ ...app.tenant, name: 'shop' });
  await examples.check();
  await save();
  expect(await stored()).toMatchObject({ schemaExamples: true });
  await eventually(async () => {
    const { text } = await app.get('product/shop/schema');
    return text.includes('"examples":["Acme"]');
  });
  await page.getByLabel('Description').fill('for the shop');
  await save();
  expect(await stored()).toMatchObject({ schemaExamples: true, description: 'for the shop' });
  await examples.uncheck();
  await save();
  expect(await stored()).not.toHaveProperty('schemaExamples');
  expect(await violationsIn(page)).toEqual([]);
});
