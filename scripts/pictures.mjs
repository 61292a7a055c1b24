/**
 * `npm run pictures`: makes the pictures of the console again, in `docs/pictures`: a new operator's first ten minutes, on a
 * fresh demo. Needs a Chromium, as the browser tests do. `-- --watch SECONDS` says for how long the charts are let grow.
 */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { chromiumPath, installChromium } from './chromium.mjs';

const folder = join('docs', 'pictures');
const size = { width: 1180, height: 720 };
const settledMs = 700;
/** The charts of the overview need a while to have something to show. */
const { values } = parseArgs({ options: { watch: { type: 'string', default: '40' } } });
const watchedMs = Number(values.watch) * 1000;
const harvestMs = 400;
/** What consumers do is known ten seconds later. */
const notedMs = 12_000;

if (!(await installChromium())) process.exit(1);
const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-pictures-'));
const service = spawn(process.execPath, ['dist/main.js'], {
  env: { ...process.env, PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'inherit', 'pipe'],
});
try {
  await takeAll(await started());
} finally {
  service.kill('SIGINT');
  await once(service, 'exit');
  await rm(dataDir, { recursive: true, force: true });
}

/** Where the demo is, and its passwords. */
async function started() {
  const logins = {};
  let url;
  for await (const line of createInterface(service.stderr)) {
    url ??= /http:\/\/[\d.:]+/.exec(line)?.[0];
    const [, username, password] = /(demo-\w+):([\w-]+)/.exec(line) ?? [];
    if (username !== undefined) logins[username] = password;
    if ('demo-admin' in logins) break;
  }
  return { url, logins };
}

async function takeAll({ url, logins }) {
  const args = ['--no-sandbox', '--disable-gpu'];
  const browser = await chromium.launch({ executablePath: chromiumPath(), args });
  const page = await browser.newPage({ viewport: size });
  const take = async (name) => {
    await wait(settledMs);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    console.log(`${folder}/${name}.png`);
  };
  await page.goto(`${url}/console`);
  await page.getByLabel('User name').fill('demo-admin');
  await take('sign-in');
  await page.getByLabel('Password').fill(logins['demo-admin']);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();

  await page.goto(`${url}/console/applications/demo/shop/product`);
  await page.getByLabel('Name', { exact: true }).fill('cheap-bikes');
  await page.getByLabel('Filter, as JSON').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{\n  "data.category": "bikes",\n  "data.price": {"$lt": 500}\n}');
  await page.getByText(/ of 3,000 records match/).waitFor();
  await take('service');
  await page.getByRole('button', { name: 'Register…' }).click();
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByRole('heading', { name: 'product service cheap-bikes' }).waitFor();

  await page.goto(`${url}/console/credentials`);
  await page.getByLabel('User name').fill('search');
  await page.getByLabel('Organization').fill('demo');
  await page.getByLabel('Application').fill('shop');
  await page.getByRole('button', { name: 'Issue' }).click();
  await page.getByText('It is shown this once').waitFor();
  logins.search = await page.locator('[data-secret]').innerText();
  await take('credential');
  await page.getByRole('button', { name: 'I have it' }).click();

  await page.goto(`${url}/console/explorer?as=search`);
  await page.getByLabel('Service').selectOption('cheap-bikes');
  await page.getByRole('button', { name: 'Harvest' }).click();
  await page.getByText(/^Done:/).waitFor();
  await take('explorer');

  await page.goto(`${url}/console/search?id=product-3001`);
  await page.getByText('It is in the hard deletes.').waitFor();
  await take('search');

  await page.goto(`${url}/console/applications/demo/shop/product/bikes`);
  await page.getByText('648 of 3,000 records match').waitFor();
  await page.getByLabel('Filter, as JSON').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText('{\n  "data.category": {"$in": ["bikes", "tents"]}\n}');
  await page.getByText(/Saving it delivers/).waitFor();
  await page.getByRole('button', { name: 'Save…' }).click();
  await take('edit');
  await page.getByRole('button', { name: 'Save', exact: true }).click();

  await page.goto(`${url}/console`);
  await beConsumers(url, logins);
  await take('overview');
  await page.goto(`${url}/console/consumers`);
  await page.getByRole('cell', { name: 'search' }).first().waitFor();
  await take('consumers');
  await browser.close();
}

/** For a while, one consumer that keeps up with a program that writes, and one that stopped before all that. */
async function beConsumers(url, logins) {
  const root = `${url}/demo/shop/api`;
  const headersOf = (login) => ({
    authorization: `Basic ${Buffer.from(`${login}:${logins[login]}`).toString('base64')}`,
    'content-type': 'application/json',
  });
  const get = async (login, path) =>
    (await fetch(`${root}/v1/${path}`, { headers: headersOf(login) })).json();
  const write = (number) =>
    fetch(`${root}/v0.1/member`, {
      method: 'POST',
      headers: headersOf('demo-writer'),
      body: JSON.stringify({ accountnumber: String(number), email: `visitor${number}@example.org` }),
    });
  await get('demo-reader', `product/default/updates?to=${new Date(Date.now() - 60_000).toISOString()}`);
  let from = '';
  const harvest = async () => {
    const { offset } = await get('search', 'member/max');
    if (offset !== from)
      await get('search', `member/default/updates?to=${offset}&limit=10000${from && `&from=${from}`}`);
    from = offset;
  };
  const ends = Date.now() + watchedMs;
  for (let number = 1; Date.now() < ends; number += 1) {
    await Promise.all(
      Array.from({ length: 1 + Math.round(Math.random() * 5) }, (_, one) => write(number * 10 + one)),
    );
    await harvest();
    await wait(harvestMs * (0.5 + Math.random()));
  }
  await harvest();
  await wait(notedMs);
}
