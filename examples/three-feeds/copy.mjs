// Keeps copy.json equal to what a service delivers. Run it as often as you like. TIDEMARK_FEED: …/acme/webshop/api/v1/product
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const { TIDEMARK_FEED, TIDEMARK_USER, TIDEMARK_PASSWORD, TIDEMARK_SERVICE: service } = process.env;
const login = Buffer.from(`${TIDEMARK_USER}:${TIDEMARK_PASSWORD}`).toString('base64');
const feeds = [`${service}/updates`, `${service}/softdeletes`, 'harddeletes'];

async function get(path, query = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const request = { headers: { Authorization: `Basic ${login}` }, signal: AbortSignal.timeout(600_000) };
    const url = `${TIDEMARK_FEED}/${path}?${new URLSearchParams(query)}`;
    const answer = await fetch(url, request).catch(() => undefined);
    const body = await answer?.json().catch(() => undefined);
    if (body && (answer.ok || answer.status === 410)) return body;
    const passes = !answer || answer.ok || [429, 502, 503, 504].includes(answer.status);
    if (!passes || attempt === 10) throw new Error(`${answer?.status ?? 'no answer'} ${body?.detail ?? ''}`);
    await wait(1000 * (answer?.headers.get('Retry-After') ?? Math.min(2 ** attempt, 60)));
  }
}

async function harvest(from, held) {
  let { offset: to } = await get('max');
  for (let look = 1; to < from && look < 3; look += 1) {
    await wait(3000);
    to = (await get('max')).offset;
  }
  if (to < from) return harvest(undefined, new Map());
  for (const feed of feeds) {
    for (let page = {}; page.nextoffsetid !== '';) {
      page = await get(feed, { to, ...(from && { from }), lastoffsetid: page.nextoffsetid ?? '' });
      if (page.status === 410) return harvest(undefined, new Map());
      for (const item of page.result) {
        const isOlder = (item.lastupdated ?? item.lastUpdated) < (held.get(item.id)?.lastupdated ?? '');
        if (!isOlder && item.lastupdated) held.set(item.id, item);
        else if (!isOlder) held.delete(item.id);
      }
    }
  }
  await writeFile('copy.json.new', JSON.stringify({ from: to, items: [...held.values()] }));
  await rename('copy.json.new', 'copy.json');
}

const { from, items } = JSON.parse(await readFile('copy.json', 'utf8').catch(() => '{"items": []}'));
await harvest(from, new Map(items.map((item) => [item.id, item])));
