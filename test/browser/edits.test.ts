import { type Page } from 'playwright-core';
import { eventually, PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser, violationsIn } from './browser.js';

const TYPED = '{"data.category": "boats"}';

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let root: string;
let second: string;
let page: Page;

beforeAll(async () => {
  service = await TestService.shared();
  browser = await ConsoleBrowser.start(service.url);
  const owner = await service.application();
  const everything = { level: 'admin' as const, scopes: [{ organizationid: '*', appid: '*' }] };
  root = await owner.credential(everything);
  second = await owner.credential(everything);
});
afterAll(async () => {
  await browser?.stop();
});
beforeEach(async () => {
  app = await service.application();
  await app.products(2, (index) => ({ id: `p${index}`, data: { category: 'bikes' } }));
  await app.filter('product', 'bikes', { 'data.category': 'bikes' });
  page = await browser.openAs(root);
  await openEditor(page);
});
afterEach(async () => {
  await page.context().close();
  expect(browser.faults.splice(0)).toEqual([]);
});

const stored = () => service.db.collection('services').findOne({ ...app.tenant, name: 'bikes' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const editor = (page: Page) => page.getByLabel('Filter, as JSON');
const title = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

async function openEditor(page: Page): Promise<void> {
  await browser.goTo(page, '/');
  await page.getByRole('link', { name: 'Applications' }).click();
  await page.getByRole('link', { name: `${app.organizationid}/${app.appid}` }).click();
  await page.getByRole('link', { name: 'bikes' }).click();
  await page.getByText('2 of 2 records match').waitFor();
}

async function write(page: Page, filter: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(filter);
  await page.getByText('0 of 2 records match').waitFor();
}

async function save(page: Page): Promise<void> {
  await button(page, 'Save…').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
}

/** What the dialog says stands behind it already while that is being saved. */
async function isSaved(page: Page): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('Saving it moves no record.').waitFor();
}

async function endSession(): Promise<void> {
  await service.db.collection('tidemark.sessions').updateMany({}, { $set: { expires: new Date(0) } });
}

async function signInAgain(page: Page, username: string): Promise<void> {
  await page.getByText('Your session is over. Sign in again.').waitFor();
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password').fill(PASSWORD);
  await button(page, 'Sign in').click();
}

describe('A session that ends in the middle of an edit', () => {
  beforeEach(async () => {
    await write(page, TYPED);
    await endSession();
    await save(page);
    await page.getByText('Your session is over. Sign in again.').waitFor();
  });

  it('the same user goes on where they were: what was typed is there, and is saved', async () => {
    expect(await violationsIn(page)).toEqual([]);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.getAttribute("autocomplete")')).toBe('username');
    await signInAgain(page, root);
    const question = page.getByRole('dialog', { name: 'Save the service bikes?' });
    await question.waitFor();
    expect(await question.getByRole('alert').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
    expect(await editor(page).innerText()).toBe(TYPED);
    expect(await page.title()).toBe('product service bikes · Tidemark');
    await question.getByRole('button', { name: 'Save', exact: true }).click();
    await question.waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({ filter: JSON.parse(TYPED) as object });
  });

  it('another user finds the stored filter, and nothing of what was typed', async () => {
    await signInAgain(page, second);
    await page.getByText('2 of 2 records match').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await editor(page).innerText()).toContain('bikes');
  });
});

describe('Leaving with an unsaved edit', () => {
  const question = () => page.getByRole('dialog', { name: 'Leave without saving?' });

  it.each([
    ['a link', () => page.getByRole('link', { name: 'Audit trail' }).click(), 'Audit trail'],
    ['Back', () => page.evaluate('history.back()'), ''],
    ['Sign out', () => button(page, 'Sign out').click(), 'Sign in'],
  ] as [string, () => Promise<void>, string][])('%s asks first', async (name, go, there) => {
    const at = page.url();
    await write(page, TYPED);
    await go();
    await question().waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await button(page, 'Stay').click();
    await question().waitFor({ state: 'detached' });
    expect(page.url()).toBe(at);
    expect(await editor(page).innerText()).toBe(TYPED);
    await go();
    await button(page, 'Leave').click();
    if (name === 'Back') await page.getByRole('link', { name: 'bikes' }).waitFor();
    else await title(page, there);
    expect(await editor(page).count()).toBe(0);
  });

  it('the browser asks before it closes the page', async () => {
    await write(page, TYPED);
    const asked = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.accept();
  });

  it('nobody is asked once it is saved', async () => {
    await write(page, TYPED);
    await save(page);
    await isSaved(page);
    await page.getByRole('link', { name: 'Audit trail' }).click();
    await title(page, 'Audit trail');
    expect(await question().count()).toBe(0);
  });
});

it('a proxy that makes ETags weak keeps nothing from being saved', async () => {
  await page.route('**/admin/v1/applications/**/services/**', async (route) => {
    const response = await route.fetch();
    const { etag, ...headers } = response.headers();
    await route.fulfill({ response, headers: { ...headers, ...(etag && { etag: `W/${etag}` }) } });
  });
  await page.reload();
  await page.getByText('2 of 2 records match').waitFor();
  await write(page, TYPED);
  await save(page);
  await isSaved(page);
  expect(await stored()).toMatchObject({ filter: JSON.parse(TYPED) as object });
});

it('of two tabs the later one is told that its version is stale, keeps what was typed, and reads theirs', async () => {
  const other = await page.context().newPage();
  await openEditor(other);
  await write(page, '{"data.category": "tents"}');
  await save(page);
  await isSaved(page);

  await write(other, TYPED);
  await save(other);
  await other.getByText('Somebody else has changed it meanwhile. Read it again to see theirs').waitFor();
  expect(await other.getByText('If-Match').count()).toBe(0);
  expect(await violationsIn(other)).toEqual([]);
  expect(await editor(other).innerText()).toBe(TYPED);
  await button(other, 'Read it again').click();
  await eventually(async () => (await editor(other).innerText()).includes('tents'));
  expect(await other.getByText('Somebody else has changed it').count()).toBe(0);

  await write(other, TYPED);
  await save(other);
  await isSaved(other);
  expect(await stored()).toMatchObject({ filter: JSON.parse(TYPED) as object });
});
