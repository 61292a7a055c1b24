import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { Status } from '../../src/administration/index.js';
import { RestampNotes } from '../../src/replication/watcher/index.js';
import { eventually, send, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser, violationsIn } from './browser.js';

const BUNDLE_BYTES = 250_000;
const PHONE = { width: 390, height: 800 };

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let other: TestApplication;
let root: string;
let owner: string;

beforeAll(async () => {
  service = await TestService.start();
  browser = await ConsoleBrowser.start(service.url);
  app = await service.application();
  other = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  owner = await app.credential({
    level: 'admin',
    scopes: [{ organizationid: app.organizationid, appid: '*' }],
  });
  for (const one of [app, other]) {
    await one.products(5, (index) => ({ id: `${one.appid}-${index}`, data: { n: index } }));
    await one.filter('product', `of-${one.appid}`, { 'data.n': { $gt: 2 } });
    await one.feed('product').page();
  }
  await service.db
    .collection('products')
    .updateOne({ id: `${app.appid}-1` }, { $set: { 'data.changed': true } });
  await service.watcher.caughtUp();
  await service.app.get(RestampNotes, { strict: false }).flush();
});
afterAll(async () => {
  await browser?.stop();
  await service?.stop();
});
afterEach(() => expect(browser.faults.splice(0)).toEqual([]));

/** Each view with what shows that it has come. */
const VIEWS: [name: string, path: () => string, shown: string][] = [
  ['overview', () => '/', 'Overview'],
  ['applications', () => '/applications', 'Register an application'],
  ['services', () => `/applications/${app.organizationid}/${app.appid}`, `New product service`],
  [
    'editor',
    () => `/applications/${app.organizationid}/${app.appid}/product/of-${app.appid}`,
    '2 of 5 records match',
  ],
  ['credentials', () => '/credentials', 'Issue a credential'],
  ['consumers', () => '/consumers', 'Consumers'],
  ['explorer', () => '/explorer', 'Items a page'],
  ['search', () => `/search?id=${app.appid}-1`, 'Another program changed it'],
  ['audit trail', () => '/trail', 'Audit trail'],
  ['kinds', () => '/kinds', 'Create a kind'],
  ['watcher', () => '/watcher', 'None is under way.'],
  [
    'nothing',
    () => `/applications/${app.organizationid}/${app.appid}/nothing`,
    'The console has no such page.',
  ],
];

it('the list of services says how many are left out of it', async () => {
  const crowded = await service.application();
  const note = 'x'.repeat(1_500_000);
  await service.db.collection('services').insertMany(
    ['one', 'two', 'three', 'four'].map((name) => ({
      ...{ ...crowded.tenant, kind: 'product', name, filter: {}, enabled: false, note },
    })),
  );
  const page = await browser.openAs(root);
  const { organizationid, appid } = crowded;
  expect(await browser.view(page, `/applications/${organizationid}/${appid}`, 'not listed')).toContain(
    '2 more services are not listed.',
  );
  await service.db.collection('services').deleteMany(crowded.tenant);
});

describe.each([
  ['light', undefined],
  ['dark', undefined],
  ['dark', PHONE],
] as ['light' | 'dark', typeof PHONE | undefined][])(
  'In %s colours, on a screen of %o',
  (colorScheme, viewport) => {
    let page: Page;
    beforeAll(async () => {
      page = await browser.openAs(root, { colorScheme, ...(viewport && { viewport }) });
    });
    afterAll(() => browser.closeWindows());

    it.each(VIEWS)(
      'axe finds nothing wrong with %s, and nothing is wider than the screen',
      async (_name, path, shown) => {
        await browser.view(page, path(), shown);
        expect(await violationsIn(page)).toEqual([]);
        const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(tooWide).toBeLessThanOrEqual(0);
      },
    );
  },
);

it('axe finds nothing wrong with the page for signing in, nor with a question', async () => {
  const page = await browser.open();
  await browser.goTo(page, '/');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await browser.signIn(page, root);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await browser.view(page, '/credentials', 'Issue a credential');
  await page.getByRole('button', { name: 'Revoke' }).first().click();
  await page.getByRole('dialog').waitFor();
  expect(await violationsIn(page)).toEqual([]);
});

it('everything can be done with the keyboard: a service is opened and its filter left again', async () => {
  const page = await browser.openAs(root);
  await page.keyboard.press('Tab');
  const focused = () => page.evaluate<string>('document.activeElement?.textContent ?? ""');
  const reach = async (text: string) => {
    for (let presses = 0; presses < 60 && (await focused()) !== text; presses += 1)
      await page.keyboard.press('Tab');
    expect(await focused()).toBe(text);
  };
  await reach('Applications');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Applications' }).waitFor();
  await page.getByText(`${app.organizationid}/${app.appid}`).waitFor();
  await reach(`${app.organizationid}/${app.appid}`);
  await page.keyboard.press('Enter');
  await page.getByText(`of-${app.appid}`).waitFor();
  await reach(`of-${app.appid}`);
  await page.keyboard.press('Enter');
  await page.getByText('2 of 5 records match').waitFor();
  await page.getByLabel('Filter, as JSON').focus();
  await reach('Save…');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('a chart has no times before it has two samples, and then each of them once', async () => {
  const page = await browser.open();
  await page.addInitScript(`
    const drawing = CanvasRenderingContext2D.prototype;
    const { clearRect, fillText } = drawing;
    drawing.clearRect = function (...place) {
      this.canvas.times = [];
      return clearRect.call(this, ...place);
    };
    drawing.fillText = function (text, ...place) {
      if (/^\\d\\d:\\d\\d:\\d\\d$/.test(text)) this.canvas.times.push(text);
      return fillText.call(this, text, ...place);
    };`);
  const shown = () =>
    page.evaluate<string[][]>('[...document.querySelectorAll("canvas")].map(({ times }) => times ?? [])');
  const held: (() => Promise<void>)[] = [];
  let looks = 0;
  await page.route('**/admin/v1/figures', async (route) => {
    looks += 1;
    if (looks === 1) await route.continue();
    else held.push(() => route.continue());
  });
  await browser.signIn(page, root);
  await eventually(() => held.length === 1);
  await page.getByRole('img', { name: /^Watcher behind .* now (?!not known)/ }).waitFor();
  expect((await shown()).flat()).toEqual([]);
  await held[0]!();
  await eventually(() => held.length === 2);
  const charts = await shown();
  expect(charts.flat().length).toBeGreaterThan(0);
  for (const times of charts) expect(times).toEqual([...new Set(times)]);
});

it('the page of the watcher tells which applications wait, why, how far that has come and how long it will take', async () => {
  const work = { share: 0.45, secondsLeft: 40 };
  const page = await browser.openAs(root);
  await page.route('**/admin/v1/status', async (route) => {
    const answer = await route.fetch();
    const status = (await answer.json()) as Status;
    Object.assign(status.watcher, {
      ...{
        lagSeconds: 70,
        secondsLeft: 8,
        aside: [{ ...app.tenant, lagSeconds: 60, pass: 'first start', ...work }],
      },
      pass: { reason: 'drop of products', started: new Date(0), done: 1, total: 4, secondsLeft: 9 },
    });
    const edited = { ...other.tenant, kind: 'product', name: 'few', since: new Date(0), failures: 3 };
    status.pendingServices = { services: 2, first: [{ ...edited, ...work, kind: 'product' }] };
    await route.fulfill({ response: answer, json: status });
  });
  const shown = await browser.view(page, '/watcher', 'Applications beside all others');
  expect(shown).toContain('70 s, about 8 s left');
  expect(shown).toContain('1 of about 4, about 9 s left, begun');
  const rowOf = (name: string) => page.getByRole('row', { name: new RegExp(name) }).innerText();
  expect(await rowOf(app.appid)).toMatch(/60 s\s+first start\s+45 % done, about 40 s left$/);
  expect(await rowOf(other.appid)).toMatch(/product few\s+.*\s+45 % done, about 40 s left\s+3$/);
  expect(await violationsIn(page)).toEqual([]);
  await browser.closeWindows();
});

describe('An administrator of one organization', () => {
  let page: Page;
  beforeAll(async () => {
    await browser.closeWindows();
    page = await browser.openAs(owner);
  });

  it.each(VIEWS.filter(([name]) => !['kinds', 'watcher'].includes(name)))(
    'sees nothing of another in %s',
    async (_name, path, shown) => {
      const text = await browser.view(page, path(), shown);
      for (const theirs of [other.organizationid, other.appid, other.user('read'), root])
        expect(text).not.toContain(theirs);
    },
  );

  it('is not shown the watcher, and finds no record, service or feed of others', async () => {
    expect(await page.getByRole('link', { name: 'Watcher' }).count()).toBe(0);
    await browser.view(page, '/watcher', 'whose scopes cover every organization and application');
    await browser.view(page, `/search?id=${other.appid}-1`, 'Nothing is known under the id');
    const place = `/applications/${other.organizationid}/${other.appid}`;
    await browser.view(page, place, 'There is no application');
    await browser.view(page, `${place}/product/of-${other.appid}`, 'There is no application');
  });
});

describe('What is served', () => {
  it('its policy allows nothing unsafe, and its styles a nonce of this answer alone', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => send(`${service.url}/console`, 'GET', {})));
    const policy = one!.headers.get('content-security-policy')!;
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(policy).toContain("default-src 'none'");
    const nonce = /'nonce-([^']+)'/.exec(policy)![1]!;
    expect(one!.text).toContain(nonce);
    expect(two!.text).not.toContain(nonce);
    expect(one!.text).not.toContain('__NONCE__');
  });

  it('/docs shows the endpoints of the service with examples, in the colours of the console', async () => {
    const page = await browser.open({ colorScheme: 'dark' });
    await page.goto(`${service.url}/docs#/members/createMember`);
    await page.getByText('/health/ready').first().waitFor();
    await page.getByText('"Ann Example"').first().waitFor();
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const inDocs = await ground();
    await browser.goTo(page, '/');
    expect(inDocs).toBe(await ground());
  });

  it.each(['light', 'dark'] as const)(
    '/docs breaks no rule of axe, also with an answer: %s',
    async (colorScheme) => {
      const page = await browser.open({ colorScheme });
      await page.goto(`${service.url}/docs`);
      await page.locator('[data-path="/health/live"]').waitFor();
      expect(await violationsIn(page)).toEqual([]);
      for (const path of ['/{org}/{app}/api/v1/product/{service}/updates', '/health/live'])
        await page.locator(`[data-path="${path}"]`).click();
      await page.getByRole('button', { name: 'Try it out' }).last().click();
      await page.getByRole('button', { name: 'Execute' }).click();
      await page.locator('.live-responses-table .response-col_status', { hasText: /^200/ }).waitFor();
      expect(await violationsIn(page)).toEqual([]);
      expect(new URL(page.url()).hash).toBe('#/operation/getLiveness');
    },
  );

  it('is small', () => {
    const assets = join('dist', 'administration', 'console', 'pages', 'assets');
    const files = readdirSync(assets).map((name) => readFileSync(join(assets, name)));
    expect(files.reduce((sum, file) => sum + gzipSync(file).length, 0)).toBeLessThan(BUNDLE_BYTES);
  });

  it('nothing but its pages: no file of the service, and no page under a wrong method', async () => {
    for (const path of [
      '/console/assets/..%2f..%2fmain.js',
      '/console/assets/..%2findex.html',
      '/console/assets/nothing.js',
      '/console/nothing',
      '/console/',
    ])
      expect((await fetch(`${service.url}${path}`)).status).toBe(404);
    expect((await fetch(`${service.url}/console`, { method: 'POST' })).status).toBe(405);
  });
});
