import { type Page } from 'playwright-core';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { ConsoleBrowser } from './browser.js';

let first: TestService;
let second: TestService;
let browser: ConsoleBrowser;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  first = await TestService.start();
  second = await first.another();
  browser = await ConsoleBrowser.start(first.url);
  app = await first.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  await Promise.all([first.heard(), second.heard()]);
});
afterAll(async () => {
  await browser?.stop();
  await second?.leave();
  await first?.stop();
});
afterEach(() => browser.closeWindows());

/** The overview behind a load balancer that hands each request for figures to the next of these instances. */
async function overview(
  instances: TestService[],
): Promise<{ page: Page; names: Set<string>; looks: () => number }> {
  const names = new Set<string>();
  let looks = 0;
  const page = await browser.open();
  await page.route('**/admin/v1/figures', async (route) => {
    const instance = instances[looks % instances.length]!;
    looks += 1;
    const { cookie = '', 'tidemark-console': console_ = '' } = await route.request().allHeaders();
    const answer = await fetch(`${instance.url}/admin/v1/figures`, {
      headers: { cookie, 'tidemark-console': console_ },
    });
    const body = await answer.text();
    names.add(String((JSON.parse(body) as { instance: unknown }).instance));
    // The page may have gone on meanwhile: nothing waits for this answer then.
    await route
      .fulfill({ status: answer.status, contentType: 'application/json', body })
      .catch(() => undefined);
  });
  await browser.signIn(page, root);
  return { page, names, looks: () => looks };
}

const known = (page: Page, title: string) =>
  page.getByRole('img', { name: new RegExp(`^${title} .* now (?!not known)`) }).waitFor();

it('with two instances the charts of requests and items have lines, and say of which instances they are', async () => {
  const { page, names, looks } = await overview([first, second]);
  await known(page, 'Requests a second');
  await known(page, 'Items a second');
  expect(names.size).toBe(2);
  const said = await page.getByText('Requests and items are those of').innerText();
  for (const name of names) expect(said).toContain(name);
  const seen = looks();
  await eventually(() => looks() >= seen + 2);
  await known(page, 'Requests a second');
});

it('with one instance they say of which one they are', async () => {
  const { page, names } = await overview([first]);
  await known(page, 'Requests a second');
  expect(names.size).toBe(1);
  const [name] = names;
  await page.getByText(`Requests and items are those of ${name}`).waitFor();
});
