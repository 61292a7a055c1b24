import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { stripping, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser } from './browser.js';

/** It holds the name that the paths of the console begin with. */
const PREFIX = '/console/tidemark';

let service: TestService;
let proxy: Server;
let origin: string;
let browser: ConsoleBrowser;
let app: TestApplication;
let page: Page;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  await app.product({ id: 'p1' });
  await app.filter('product', 'some', { id: 'p1' });
  await service.watcher.caughtUp();
  proxy = await stripping(PREFIX, service.url);
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  browser = await ConsoleBrowser.start(`${origin}${PREFIX}`);
  const root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  page = await browser.openAs(root);
});
afterAll(async () => {
  await browser?.stop();
  proxy?.closeAllConnections();
  proxy?.close();
  if (proxy !== undefined) await once(proxy, 'close');
  await service?.stop();
});
afterEach(() => expect(browser.faults.splice(0)).toEqual([]));

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
