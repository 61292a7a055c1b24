import { createHash } from 'node:crypto';
import { checksOf } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { bodyOf, brief, type HttpAnswer } from '../http-answer.js';
import { type FeedItem, idOf, type Reading, stampOf } from '../reading.js';
import type { QueryTexts } from '../server.js';
import { filtersOf } from '../target.js';
import { hasExactly } from './shapes.js';

const USUAL_BUCKETS = 256;
const FEW_BUCKETS = 3;
const HASH_BYTES = 16;
const MODULUS = 1n << 128n;
const DIGITS = 32;
const NAMES = ['to', 'count', 'digest', 'buckets'];
const REFUSED: QueryTexts[] = [
  { to: undefined },
  { buckets: '0' },
  { buckets: '257' },
  { buckets: '4', bucket: '4' },
];

interface Sum {
  count: number;
  digest: string;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
const bucketOf = (item: FeedItem, buckets: number) => sha256(idOf(item))[0]! % buckets;

function sumOf(items: FeedItem[]): Sum {
  const hashes = items.map((item) => sha256(`${idOf(item)}\n${stampOf(item)}`));
  const numbers = hashes.map((hash) => BigInt(`0x${hash.subarray(0, HASH_BYTES).toString('hex')}`));
  const sum = numbers.reduce((total, one) => (total + one) % MODULUS, 0n);
  return { count: items.length, digest: sum.toString(16).padStart(DIGITS, '0') };
}

function bucketsOf(items: FeedItem[], number: number): Sum[] {
  const buckets = Array.from({ length: number }, (): FeedItem[] => []);
  for (const item of items) buckets[bucketOf(item, number)]!.push(item);
  return buckets.map(sumOf);
}

/** The digest paths; a channel has none. */
function digestsOf({ server }: Reading): { path: string; filter: string }[] {
  const { kind } = server.target;
  const filters = filtersOf(server.target).filter(({ path }) => path.startsWith(`${kind}/`));
  return filters.map(({ path }) => ({ path: `${path}/digest`, filter: path }));
}

function ask({ server, to }: Reading, path: string, query: QueryTexts = {}): Promise<HttpAnswer> {
  return server.ask(path, { query: { to, ...query } });
}

async function envelope(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of digestsOf(reading)) {
    const answer = await ask(reading, path);
    const body = bodyOf(answer);
    const isRight = answer.status === 200 && hasExactly(body, NAMES) && body['to'] === reading.to;
    const expected = `${path}: 200 {"to": "${reading.to}", "count": 2, "digest": "...", "buckets": [...]}`;
    found.that(
      isRight,
      answer,
      expected,
      `${answer.status} ${brief(Object.keys(body))} to ${brief(body['to'])}`,
    );
    const used = answer.headers.get('tidemark-to');
    found.that(used === reading.to, answer, `${path}: Tidemark-To: ${reading.to}`, `Tidemark-To: ${used}`);
  }
}

/** Does something with each service's records, if they can be read to their end. */
async function eachService(
  reading: Reading,
  found: Findings,
  look: (path: string, items: FeedItem[]) => Promise<void>,
): Promise<void> {
  for (const { path, filter } of digestsOf(reading)) {
    const { items, isWhole } = await reading.harvest({ path: `${filter}/updates`, shows: 'updates' });
    if (isWhole) await look(path, items);
    else found.lacking(`${filter} has more items than --pages allows`);
  }
}

async function equal(reading: Reading, found: Findings): Promise<void> {
  await eachService(reading, found, async (path, items) => {
    for (const buckets of [undefined, FEW_BUCKETS]) {
      const answer = await ask(reading, path, { buckets: buckets?.toString() });
      const { count, digest, buckets: told } = bodyOf(answer);
      const whole = sumOf(items);
      const isSame = count === whole.count && digest === whole.digest;
      found.that(
        isSame,
        answer,
        `${path}: count and digest of the items of updates`,
        brief({ count, digest }),
      );
      const number = buckets ?? USUAL_BUCKETS;
      const isSplit = JSON.stringify(sumsIn(told)) === JSON.stringify(bucketsOf(items, number));
      found.that(isSplit, answer, `${path}: ${number} buckets, each with its count and digest`, brief(told));
    }
  });
}

/** In one order of properties. */
function sumsIn(told: unknown): unknown[] {
  if (!Array.isArray(told)) return [];
  return told.map((one: Partial<Sum> | null) => ({ count: one?.count, digest: one?.digest }));
}

async function listed(reading: Reading, found: Findings): Promise<void> {
  await eachService(reading, found, async (path, items) => {
    const query = { buckets: String(FEW_BUCKETS), bucket: ['0', '2'] };
    const answer = await ask(reading, path, query);
    const { records, count } = bodyOf(answer);
    const meant = items.filter((item) => bucketOf(item, FEW_BUCKETS) !== 1);
    const expected = meant.map((item) => ({ id: idOf(item), lastupdated: stampOf(item) }));
    const told = Array.isArray(records)
      ? records.map((one: FeedItem | null) => ({ id: one?.['id'], lastupdated: one?.['lastupdated'] }))
      : undefined;
    const isRight = JSON.stringify(told) === JSON.stringify(expected);
    found.that(isRight, answer, `${path}: with bucket, its records in the order of updates`, brief(records));
    found.that(
      count === items.length,
      answer,
      `${path}: with bucket, the count of all records`,
      brief(count),
    );
  });
}

async function refused(reading: Reading, found: Findings): Promise<void> {
  const { path } = digestsOf(reading)[0]!;
  for (const query of REFUSED) {
    const answer = await ask(reading, path, query);
    found.that(answer.status === 400, answer, `${path}: 400 to ${brief(query)}`);
  }
}

export const digestChecks = checksOf('digest', {
  'digest-envelope': ['`digest` answers `{"to", "count", "digest", "buckets"}`.', envelope],
  'digest-equal': [
    'Its figures are those of the records that `updates` of the service delivers up to the same `to`.',
    equal,
  ],
  'digest-records': ['With `bucket` it lists the records of the requested buckets.', listed],
  'digest-refused': ['A missing `to`, and an invalid `buckets` or `bucket`, are each a 400.', refused],
});
