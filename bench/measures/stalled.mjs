/** What a consumer that holds 100 connections and reads nothing does to the pages of another one. */
import { performance } from 'node:perf_hooks';
import { tidemark } from '../contestants/index.mjs';
import { feedPath } from '../contestants/replication-api.mjs';
import { stampAt } from '../data/products.mjs';
import { say } from '../machine/say.mjs';
import { p99 } from './statistics.mjs';

const HELD = 100;
const LARGE = 10_000;
const PAGE = 1000;
const MOST = 2;

export async function stalled(stage) {
  const server = await stage.start(tidemark);
  const to = stampAt(stage.options.items).toISOString();
  const pathOf = (lastoffsetid, limit) => feedPath('product', 'default/updates', { to, lastoffsetid, limit });
  const seconds = stage.options.stallSeconds;

  await pagesFor(server, pathOf, Math.min(seconds, 5));
  const before = await pagesFor(server, pathOf, seconds);
  const held = Array.from({ length: HELD }, () => server.connection());
  await Promise.all(held.map((connection) => connection.hold(pathOf('', LARGE))));
  const during = await pagesFor(server, pathOf, seconds);
  held.forEach((connection) => connection.close());

  say(
    `  p99 of a page: ${before.toFixed(1)} ms alone, ${during.toFixed(1)} ms with ${HELD} that read nothing`,
  );
  const figure = `p99 of a page while ${HELD} connections read nothing for ${seconds} s, relative to none`;
  return [{ figure, value: during / before, unit: 'x', atMost: MOST, before, during }];
}

/** Harvests repeatedly. Returns the p99 of the time of a page, in milliseconds. */
async function pagesFor(server, pathOf, seconds) {
  const connection = server.connection();
  const times = [];
  const end = performance.now() + seconds * 1000;
  for (let lastoffsetid = ''; performance.now() < end;) {
    const begun = performance.now();
    const { status, body } = await connection.request({ path: pathOf(lastoffsetid, PAGE) });
    times.push(performance.now() - begun);
    if (status !== 200) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    lastoffsetid = JSON.parse(body).nextoffsetid;
  }
  connection.close();
  return p99(times);
}
