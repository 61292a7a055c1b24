/**
 * Keeps a search index equal to one feed, for servers with the bulk requests of OpenSearch and Elasticsearch. It takes from
 * the environment TIDEMARK_FEED (such as http://localhost:3000/demo/shop/api/v1/product/bikes), TIDEMARK_USER,
 * TIDEMARK_PASSWORD, INDEX_SERVER (such as http://localhost:9200) and INDEX.
 */
import { Buffer } from 'node:buffer';
import { setTimeout as wait } from 'node:timers/promises';
import { URLSearchParams } from 'node:url';

const { TIDEMARK_FEED, TIDEMARK_USER, TIDEMARK_PASSWORD, INDEX_SERVER, INDEX } = process.env;
const login = Buffer.from(`${TIDEMARK_USER}:${TIDEMARK_PASSWORD}`).toString('base64');
/** Where the cursor stands, in an index of its own. */
const place = `${INDEX_SERVER}/${INDEX}-place/_doc/cursor`;

/** Each request may be sent twice without harm, so one whose connection broke is sent again. */
async function send(url, options, triesLeft = 3) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (triesLeft === 0) throw error;
    await wait(1000);
    return send(url, options, triesLeft - 1);
  }
}

async function ask(url, options = {}, isRight = ({ ok }) => ok) {
  const answer = await send(url, options);
  if ([429, 502, 503, 504].includes(answer.status)) {
    await wait(1000 * Number(answer.headers.get('retry-after') ?? 1));
    return ask(url, options, isRight);
  }
  if (!isRight(answer)) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Two lines for what is put, one for what is deleted. */
function bulkLines({ op, id, ...fields }) {
  if (op === 'delete') return [{ delete: { _index: INDEX, _id: id } }];
  return [{ index: { _index: INDEX, _id: id } }, { id, ...fields }];
}

async function write(items) {
  if (items.length === 0) return;
  const body = items
    .flatMap(bulkLines)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const { errors, items: told } = await ask(`${INDEX_SERVER}/_bulk`, { method: 'POST', headers, body });
  if (!errors) return;
  const refused = told.map((one) => Object.values(one)[0]).find(({ error }) => error !== undefined);
  throw new Error(`The index refused ${refused._id}: ${JSON.stringify(refused.error)}`);
}

const stored = await ask(place, {}, ({ ok, status }) => ok || status === 404);
let cursor = stored._source?.cursor;
for (let hasNext = true; hasNext;) {
  const query = new URLSearchParams({ limit: '1000', ...(cursor && { cursor }) });
  const page = await ask(`${TIDEMARK_FEED}/changes?${query}`, {
    headers: { authorization: `Basic ${login}` },
  });
  await write(page.result);
  ({ cursor } = page);
  // Behind the items: a run that ends between both tells them once more.
  const headers = { 'content-type': 'application/json' };
  await ask(place, { method: 'PUT', headers, body: JSON.stringify({ cursor }) });
  hasNext = page.next !== undefined;
}
