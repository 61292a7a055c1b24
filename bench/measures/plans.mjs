/** Keys and documents that MongoDB examines for each item of a window, whole windows page by page: counts, no clocks. */
import { tidemark } from '../contestants/index.mjs';
import { feedPath } from '../contestants/replication-api.mjs';
import { FILTERS } from '../data/operator.mjs';
import { stampAt } from '../data/products.mjs';
import { say } from '../machine/say.mjs';
import { DATABASE } from '../stage.mjs';
import { feedQueriesOf } from './profiler.mjs';

const WIDTHS = [100, 1000, 10_000, 100_000, 500_000];
const PAGE = 1000;
const MOST_KEYS = 3;
const MOST_DOCUMENTS = { unfiltered: 1, unfilteredWide: 2, filtered: 2 };

const FEEDS = [
  { title: 'updates of all products', path: 'default/updates' },
  ...Object.keys(FILTERS).flatMap((name) => [
    { title: `updates of ${name}`, path: `${name}/updates`, isFiltered: true },
    { title: `softdeletes of ${name}`, path: `${name}/softdeletes`, isFiltered: true },
  ]),
];

/** Each feed is asked of a service that has just started: nothing that it has learned by another one helps. */
export async function plans(stage) {
  const { items } = stage.options;
  const widths = [...WIDTHS.filter((width) => width < items), items];
  const rows = [];
  for (const feed of FEEDS) {
    const server = await stage.start(tidemark);
    const counts = [];
    for (const width of widths) counts.push(await countsOf(stage, server, feed, width));
    rows.push(...rowsOf(feed, counts, items));
    await stage.stopServers();
  }
  return rows;
}

/** What a whole window of so many products costs, an item of the window. */
async function countsOf(stage, server, { title, path }, width) {
  const { items } = stage.options;
  const window = { from: stampAt(items - width - 1).toISOString(), to: stampAt(items - 1).toISOString() };
  let delivered = 0;
  const queries = await feedQueriesOf(stage.client.db(DATABASE), async () => {
    delivered = await drain(server, path, window);
  });
  if (sumOf(queries, 'nreturned') < delivered) throw new Error('the profiler has not kept all queries');
  const perItem = (count) => sumOf(queries, count) / width;
  const counts = { width, delivered, keys: perItem('keysExamined'), documents: perItem('docsExamined') };
  say(
    `  ${title}, W = ${width}: ${delivered} items, keys ${counts.keys.toFixed(3)}, documents ${counts.documents.toFixed(3)}`,
  );
  return counts;
}

function sumOf(queries, count) {
  return queries.reduce((sum, query) => sum + query[count], 0);
}

async function drain(server, path, window) {
  const connection = server.connection();
  let delivered = 0;
  for (let lastoffsetid = '', isEnd = false; !isEnd;) {
    const { status, body } = await connection.request({
      path: feedPath('product', path, { ...window, lastoffsetid, limit: PAGE }),
    });
    if (status !== 200) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    const { result, nextoffsetid } = JSON.parse(body);
    delivered += result.length;
    lastoffsetid = nextoffsetid;
    isEnd = result.length < PAGE;
  }
  connection.close();
  return delivered;
}

function rowsOf({ title, isFiltered }, counts, items) {
  const windows = counts.map(({ width }) => width.toLocaleString('en')).join(' · ');
  const most = ({ width }) => {
    if (isFiltered) return MOST_DOCUMENTS.filtered;
    return width >= items / 2 ? MOST_DOCUMENTS.unfilteredWide : MOST_DOCUMENTS.unfiltered;
  };
  const row = (what, part, bound) => ({
    figure: `${what} examined an item of the window, ${title}, W = ${windows}`,
    text: counts.map((one) => one[part].toFixed(2)).join(' · '),
    ...boundOf(counts.map((one) => ({ value: one[part], most: bound(one) }))),
    ...{ isCount: true, counts },
  });
  return [row('keys', 'keys', () => MOST_KEYS), row('documents', 'documents', most)];
}

/** The window that comes closest to its bound, or goes furthest beyond it, speaks for all. */
function boundOf(windows) {
  const worst = windows.reduce((a, b) => (b.value / b.most > a.value / a.most ? b : a));
  return { value: worst.value, atMost: worst.most };
}
