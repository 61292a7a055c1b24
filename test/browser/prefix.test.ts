import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { stripping, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser } from './browser.js';

/** It holds the name that the paths of the console begin with. */
const PREFIX = '/console/tidemark';
const OTHER = '/other';

let service: TestService;
/** Another installation, with a database of its own. */
let other: TestService;
let proxy: Server;
let origin: string;
let browser: ConsoleBrowser;
let app: TestApplication;
let page: Page;
let root: string;

beforeAll(async () => {
  service = await TestService.start();
  other = await TestService.start();
  app = await service.application();
  await app.product({ id: 'p1' });
  await app.filter('product', 'some', { id: 'p1' });
  await service.watcher.caughtUp();
  proxy = await stripping({ [PREFIX]: service.url, [OTHER]: other.url });
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  browser = await ConsoleBrowser.start(`${origin}${PREFIX}`);
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  page = await browser.openAs(root);
});
afterAll(async () => {
  await browser?.stop();
  proxy?.closeAllConnections();
  proxy?.close();
  if (proxy !== undefined) await once(proxy, 'close');
  await service?.stop();
  await other?.stop();
});
afterEach(() => expect(browser.faults).toEqual([]));

const tenant = () => `/applications/${app.organizationid}/${app.appid}`;

async function shows(name: string): Promise<string> {
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  return new URL(page.url()).pathname;
}

describe('The console behind a prefix', () => {
  it('a page is shown by its own address, however deep it is', async () => {
    for (const [path, name] of [
      ['', 'Overview'],
      ['/applications', 'Applications'],
      [tenant(), `Services of ${app.organizationid}/${app.appid}`],
      [`${tenant()}/product`, 'New product service'],
      [`${tenant()}/product/some`, 'product service some'],
    ] as const) {
      await browser.goTo(page, path);
      expect(await shows(name)).toBe(`${PREFIX}/console${path}`);
    }
  });

  it('its links lead to its pages, and so does the way back', async () => {
    await browser.goTo(page, '/');
    await page.getByRole('link', { name: 'Consumers' }).click();
    expect(await shows('Consumers')).toBe(`${PREFIX}/console/consumers`);
    await page.reload();
    expect(await shows('Consumers')).toBe(`${PREFIX}/console/consumers`);
    await page.goBack();
    expect(await shows('Overview')).toBe(`${PREFIX}/console`);
  });

  it('a harvest shows what a consumer gets, and commands with the prefix', async () => {
    await browser.goTo(page, `/explorer?as=${app.user('read')}`);
    await page.getByRole('button', { name: 'Harvest' }).click();
    await page.getByText(/^Done:/).waitFor();
    const [, updates] = await page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading') })
      .allInnerTexts();
    expect(updates).toContain('1 item');
    expect(updates).toContain(`'${origin}${PREFIX}/${app.organizationid}/`);
  });
});

it.each([
  ['behind the prefix', () => `${origin}${PREFIX}`],
  ['itself', () => service.url],
])('`Try it out` of the API page asks the service %s', async (_where, baseOf) => {
  const base = baseOf();
  const alone = await ConsoleBrowser.start(base);
  try {
    const docs = await alone.open();
    await docs.goto(`${base}/docs`);
    await docs.locator('[data-path="/health/live"]').click();
    await docs.getByRole('button', { name: 'Try it out' }).click();
    await docs.getByRole('button', { name: 'Execute' }).click();
    await docs.locator('.live-responses-table .response-col_status', { hasText: /^200/ }).waitFor();
    expect(await docs.locator('.request-url pre').innerText()).toBe(`${base}/health/live`);
    expect(alone.faults).toEqual([]);
  } finally {
    await alone.stop();
  }
});

it('two installations behind prefixes of one host have a session each', async () => {
  const theirs = await other.application();
  const scopes = [{ organizationid: '*', appid: '*' }];
  const admins: Record<string, string> = {
    [PREFIX]: root,
    [OTHER]: await theirs.credential({ level: 'admin', scopes }),
  };
  const both = await ConsoleBrowser.start(origin);
  try {
    const window = await both.open();
    const goTo = (prefix: string, path = '') => window.goto(`${origin}${prefix}/console${path}`);
    const signedInAs = async (prefix: string) => {
      await goTo(prefix, '/applications');
      await window.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
      expect(await window.locator('body').innerText()).toContain(admins[prefix]);
    };
    for (const prefix of [PREFIX, OTHER]) {
      await goTo(prefix);
      await both.signInHere(window, admins[prefix]!);
      await window.getByRole('heading', { name: 'Overview' }).waitFor();
    }
    for (const prefix of [PREFIX, OTHER]) await signedInAs(prefix);
    await window.getByRole('button', { name: 'Sign out' }).click();
    await window.getByLabel('User name').waitFor();
    await signedInAs(PREFIX);
    await goTo(PREFIX, `/explorer?as=${app.user('read')}`);
    await window.getByRole('button', { name: 'Harvest' }).click();
    await window.getByText(/^Done:/).waitFor();
    expect(both.faults).toEqual([]);
  } finally {
    await both.stop();
  }
});
