import type { Page } from 'playwright-core';
import { type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser } from './browser.js';

let service: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.start();
  browser = await ConsoleBrowser.start(service.url);
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(async () => {
  await browser?.stop();
  await service?.stop();
});
afterEach(() => expect(browser.faults.splice(0)).toEqual([]));

describe('Documents that another program has stored', () => {
  const odd = { name: ['x', 'y'], description: { en: 'Old bikes' }, filter: null, enabled: 'no' };
  let page: Page;
  beforeAll(async () => {
    const { db } = service;
    await db
      .collection('applications')
      .insertMany([
        { organizationid: app.organizationid, appid: 'titled', title: { en: 'Shop' }, settings: 'none' },
        { organizationid: { de: 'acme' }, appid: 5 },
        { title: 'nameless' },
      ]);
    await db.collection('services').insertMany([
      { ...app.tenant, kind: 'product', ...odd },
      { ...app.tenant, kind: { a: 1 }, name: { b: 2 } },
    ]);
    await db.collection('credentials').insertMany([
      { username: { first: 'ann' }, level: ['read'], scopes: [null, { organizationid: 5 }] },
      { username: 'odd', level: { is: 'owner' }, scopes: 'all', expiresAt: { at: 1 }, lastUsed: [1] },
    ]);
    await db
      .collection('tidemark.audittrail')
      .insertOne({ at: new Date(), who: { a: 1 }, changed: 'x', target: [{}] });
    await service.watcher.caughtUp();
    page = await browser.openAs(root);
  });

  it.each([
    ['the applications', '/applications', '{"en":"Shop"}'],
    ['the services', () => `/applications/${app.organizationid}/${app.appid}`, '{"en":"Old bikes"}'],
    ['the credentials', '/credentials', '{"is":"owner"}'],
  ] as [string, string | (() => string), string][])(
    '%s show them, and all others too',
    async (_name, path, shown) => {
      const text = await browser.view(page, typeof path === 'string' ? path : path(), shown);
      expect(text).toContain(path === '/credentials' ? root : app.appid);
    },
  );

  it.each(['/', '/consumers', '/explorer', `/search?id=any`, '/trail', '/watcher'])(
    'the page %s is shown',
    async (path) => {
      await browser.goTo(page, path);
      await page.waitForLoadState('networkidle');
      expect(await page.locator('main h1').innerText()).not.toBe('This page cannot be shown');
    },
  );
});

describe.each([
  { width: 1280, height: 800 },
  { width: 390, height: 800 },
])('Names as long as they may be, on a screen of $width px', (viewport) => {
  const long = (letter: string, length = 64) => letter.repeat(length);
  const tenant = { organizationid: long('O'), appid: long('A') };
  const place = `/applications/${tenant.organizationid}/${tenant.appid}`;
  const username = long('W', 128);
  let page: Page;
  beforeAll(async () => {
    const { db } = service;
    const name = long('S');
    await db.collection('applications').updateOne(tenant, { $set: { title: 'Long' } }, { upsert: true });
    const filter = { [`data.${long('x', 100)}`]: long('Y', 100) };
    const $set = { filter, description: long('D', 200) };
    await db
      .collection('services')
      .updateOne({ ...tenant, kind: 'product', name }, { $set }, { upsert: true });
    if ((await db.collection('credentials').findOne({ username })) === null)
      await app.credential({ username, scopes: [tenant] });
    page = await browser.openAs(root, { viewport });
  });
  const tooWide = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');

  it.each([
    ['/applications', 'Register an application'],
    [place, 'New product service'],
    [`${place}/product/${long('S')}`, 'All services of'],
    ['/credentials', 'Issue a credential'],
    ['/trail', 'session.open'],
  ])('the page %s is no wider than it', async (path, shown) => {
    await browser.view(page, path, shown);
    expect(await tooWide()).toBeLessThanOrEqual(0);
  });

  it('a question fits into its box', async () => {
    await browser.view(page, '/credentials', 'Issue a credential');
    const row = page.getByRole('row', { name: username });
    await row.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    expect(await tooWide()).toBeLessThanOrEqual(0);
  });
});
