import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConsoleBrowser, violationsIn } from './browser.js';

let folder: string;
let browser: ConsoleBrowser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-site-'));
  execFileSync(process.execPath, ['scripts/docs.mjs', '--out', folder]);
  browser = await ConsoleBrowser.start(`file://${folder}`);
});
afterAll(async () => {
  await browser?.stop();
  await rm(folder, { recursive: true, force: true });
});

it('the pages are read and searched from files, without a server', async () => {
  const page = await browser.open({ colorScheme: 'light' });
  await page.goto(`file://${folder}/index.html`);
  await page.getByRole('link', { name: 'Deploying', exact: true }).click();
  await page.getByRole('heading', { name: 'Deploying', level: 1 }).waitFor();

  await page.keyboard.press('/');
  await page.keyboard.type('prototype streams');
  await page.getByRole('heading', { name: 'Found: prototype streams' }).waitFor();
  expect(await page.locator('mark').first().innerText()).toMatch(/^(prototype|streams)$/i);
  expect(await violationsIn(page)).toEqual([]);

  await page.getByRole('link', { name: 'No HTTP/2' }).click();
  await page.getByRole('heading', { name: 'No HTTP/2', level: 1 }).waitFor();
  expect(page.url()).toBe(`file://${folder}/docs/decisions/no-http2.html`);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await violationsIn(page)).toEqual([]);
  expect(browser.faults).toEqual([]);
});
