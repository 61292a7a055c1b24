import { type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser } from './browser.js';

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  browser = await ConsoleBrowser.start(service.url);
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  await app.products(5);
  await service.watcher.caughtUp();
});
afterAll(async () => {
  await browser?.stop();
});
afterEach(async () => {
  expect(browser.faults.splice(0)).toEqual([]);
  await browser.closeWindows();
});

it('the search without an id asks for one, and for nothing else', async () => {
  const page = await browser.openAs(root);
  const shown = await browser.view(page, '/search', 'By its id');
  expect(shown).not.toContain('cancelled');
});

it('the search says that it does not ask more than 200 applications', async () => {
  const page = await browser.openAs(root);
  const result = Array.from({ length: 202 }, (_, n) => ({ organizationid: 'many', appid: `app-${n}` }));
  await page.route('**/admin/v1/applications', (route) => route.fulfill({ json: { result } }));
  await page.route('**/records/**', (route) => route.fulfill({ json: { state: 'unknown' } }));
  const shown = await browser.view(page, '/search?id=nothing', 'Nothing is known');
  expect(shown).toContain('Only the first 200 applications were searched, and 2 others not.');
  expect(shown).not.toContain('that you see');
});

it('the search shows what it found although it failed in one application, and names that one', async () => {
  const page = await browser.openAs(root);
  const result = ['healthy', 'ill'].map((appid) => ({ organizationid: 'two', appid }));
  const detail = 'The database is away.';
  await page.route('**/admin/v1/applications', (route) => route.fulfill({ json: { result } }));
  await page.route('**/records/**', (route) => route.fulfill({ json: { state: 'unknown' } }));
  await page.route('**/ill/records/product/**', (route) => route.fulfill({ status: 503, json: { detail } }));
  const shown = await browser.view(page, '/search?id=nothing', 'Nothing is known');
  expect(shown).toContain('The search failed in product of two/ill.');
  expect(shown).toContain(detail);
  expect(shown).toContain('in the applications that were searched');
});

it('the explorer says why it has no applications to choose', async () => {
  const page = await browser.openAs(root);
  const detail = 'The database is away.';
  await page.route('**/admin/v1/applications', (route) => route.fulfill({ status: 503, json: { detail } }));
  await browser.view(page, '/explorer', detail);
});

it('the application that is chosen as soon as there are any stays chosen', async () => {
  const other = await service.application();
  const last = [app, other].map(({ organizationid, appid }) => `${organizationid}/${appid}`).sort()[1]!;
  const page = await browser.openAs(root);
  await page.addInitScript(`
    new MutationObserver((_changes, observer) => {
      const option = document.querySelector('option[value="${last}"]');
      if (option === null) return;
      observer.disconnect();
      const select = option.closest('select');
      select.value = '${last}';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    }).observe(document, { subtree: true, childList: true });`);
  await browser.view(page, '/explorer', 'Items a page');
  expect(await page.getByLabel('Application', { exact: true }).inputValue()).toBe(last);
});

it('the explorer loads the services again after the service was unavailable', async () => {
  await app.filter('product', 'bikes', {});
  const page = await browser.openAs(root);
  const detail = 'The database is away.';
  let asked = 0;
  const path = `${app.organizationid}/${app.appid}`;
  await page.route(`**/applications/${path}/services`, async (route) => {
    asked += 1;
    if (asked === 1) await route.fulfill({ status: 503, json: { detail } });
    else await route.continue();
  });
  await browser.view(page, '/explorer', 'Items a page');
  await page.getByLabel('Application', { exact: true }).selectOption(path);
  await page.getByText(detail).waitFor();
  await page.getByLabel('Service', { exact: true }).selectOption('bikes');
  expect(asked).toBe(2);
});

it('a harvest that is cancelled is not called done, and cannot be continued', async () => {
  const page = await browser.openAs(root);
  await browser.view(page, '/explorer', 'Items a page');
  await page.route('**/harddeletes?*', () => undefined);
  await page.getByLabel('Application', { exact: true }).selectOption(`${app.organizationid}/${app.appid}`);
  await page.getByLabel('As', { exact: true }).selectOption(app.user('read'));
  await page.getByRole('button', { name: 'Harvest' }).click();
  await page.getByRole('heading', { name: 'Changed and not matching, page 1' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Harvest' }).and(page.locator(':enabled')).waitFor();
  const shown = await page.locator('main').innerText();
  expect(shown).toContain('cancelled');
  expect(shown).not.toContain('Done:');
  expect(await page.getByRole('button', { name: 'Go on from there' }).count()).toBe(0);
});
