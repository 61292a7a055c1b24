import { createHash } from 'node:crypto';
import { bucketOf, DigestSums } from '../../../../../../src/replication/feed/page/digests.js';

const STAMP = '2026-11-20T10:00:00.000Z';
const ALL = 2n ** 128n;

/** As contract §1 says it, with whole numbers. */
function summandOf(id: string): bigint {
  const hash = createHash('sha256').update(`${id}\n${STAMP}`, 'utf8').digest('hex');
  return BigInt(`0x${hash.slice(0, 32)}`);
}

const digestOf = (ids: string[]) =>
  (ids.reduce((sum, id) => sum + summandOf(id), 0n) % ALL).toString(16).padStart(32, '0');

const bucketAsWritten = (id: string, buckets: number) =>
  createHash('sha256').update(id, 'utf8').digest()[0]! % buckets;

function sumsOf(ids: string[], buckets: number): DigestSums {
  const sums = new DigestSums(buckets);
  for (const id of ids) sums.add(id, STAMP);
  return sums;
}

const MANY = Array.from({ length: 3000 }, (_, index) => `id-${index}`);
const ODD = ['', 'ä', '😀', 'a\nb', '\u2028', '"\\', 'x'.repeat(100_000)];

it('nothing comes to zeros', () => {
  const zero = { count: 0, digest: '0'.repeat(32) };
  expect(sumsOf([], 3).total()).toEqual(zero);
  expect(sumsOf([], 3).all()).toEqual([zero, zero, zero]);
});

it('the digest of one record, as any tool computes it', () => {
  // printf 'p1\n2026-11-20T10:00:00.000Z' | sha256sum | cut -c1-32
  expect(sumsOf(['p1'], 1).all()).toEqual([{ count: 1, digest: '126306ba24bcb3687b47253896f5d495' }]);
});

it.each([1, 2, 7, 255, 256])('sums of 128 bits in %i buckets, whatever the order', (buckets) => {
  const ids = [...MANY, ...ODD];
  const expected = Array.from({ length: buckets }, (_, bucket) =>
    ids.filter((id) => bucketAsWritten(id, buckets) === bucket),
  ).map((those) => ({ count: those.length, digest: digestOf(those) }));
  expect(sumsOf(ids, buckets).all()).toEqual(expected);
  expect(sumsOf(ids.reverse(), buckets).all()).toEqual(expected);
  expect(sumsOf(ids, buckets).total()).toEqual({ count: ids.length, digest: digestOf(ids) });
});

it('tells the bucket of each record', () => {
  const sums = new DigestSums(7);
  for (const id of ODD)
    expect([sums.add(id, STAMP), bucketOf(id, 7)]).toEqual(Array(2).fill(bucketAsWritten(id, 7)));
});
