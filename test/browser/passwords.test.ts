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
});
afterAll(async () => {
  await browser?.stop();
});
afterEach(async () => {
  expect(browser.faults.splice(0)).toEqual([]);
  await browser.closeWindows();
});

describe('A password that is shown once', () => {
  const shown = async (clipboard: string) => {
    const username = await app.credential();
    const page = await browser.openAs(root);
    await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: ${clipboard} })`);
    await browser.view(page, '/credentials', 'Issue a credential');
    const row = page.getByRole('row', { name: new RegExp(`^${username} `) });
    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Give another' }).click();
    await page.getByRole('button', { name: 'Copy' }).click();
    return page;
  };

  it('is copied, and the page says so', async () => {
    const page = await shown('{ writeText: async (text) => { window.copied = text; } }');
    await page.getByText('It is copied.').waitFor();
    expect(await page.evaluate('window.copied')).toBe(await page.locator('[data-secret]').innerText());
  });

  it.each([
    ['without TLS, where browsers have no clipboard for pages', 'undefined'],
    ['where the browser refuses', '{ writeText: () => Promise.reject(new Error()) }'],
  ])('is not called copied %s: it is selected', async (_name, clipboard) => {
    const page = await shown(clipboard);
    await page.getByText('The browser does not let the page copy it').waitFor();
    expect(await page.evaluate('String(getSelection()).trim()')).toBe(
      await page.locator('[data-secret]').innerText(),
    );
  });
});

it('the date at which a credential ends names its time zone', async () => {
  const page = await browser.openAs(root, { timezoneId: 'Pacific/Auckland' });
  await browser.view(page, '/credentials', 'Issue a credential');
  await page.getByText('at 0:00 UTC; empty: never').waitFor();
});

it('a change that fails after its question was closed shows its error', async () => {
  const username = await app.credential();
  const page = await browser.openAs(root);
  await browser.goTo(page, '/credentials');
  const row = page.getByRole('row', { name: new RegExp(`^${username} `) });
  let answer = (): void => undefined;
  const closed = new Promise<void>((resolve) => (answer = resolve));
  await page.route(`**/credentials/${username}`, async (route) => {
    await closed;
    await route.fulfill({ status: 503, json: { detail: 'The database is away.' } });
  });
  await row.getByRole('button', { name: 'Disable' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await dialog.getByRole('button', { name: 'Leave it' }).click();
  await dialog.waitFor({ state: 'detached' });
  answer();
  await row.getByRole('alert').getByText('The database is away.').waitFor();
});
