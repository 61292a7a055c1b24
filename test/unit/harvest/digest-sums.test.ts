import { createHash } from 'node:crypto';
import { BUCKETS, bucketOf, CopySums } from '../../../client/src/harvest/digest-sums.js';

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the digest of a copy, as contract §1 defines it', () => {
  const records = Array.from({ length: 2000 }, (_, n) => ({
    id: `id-${n} ü`,
    lastupdated: new Date(n).toISOString(),
  }));

  it('SHA-256 of `id + "\\n" + lastupdated`, the first 16 bytes added modulo 2^128, by buckets', () => {
    const sums = new CopySums();
    for (const record of records) sums.add(record);
    for (const [bucket, { count, digest }] of sums.buckets.entries()) {
      const inIt = records.filter(({ id }) => parseInt(sha(id).slice(0, 2), 16) === bucket);
      const sum = inIt.reduce(
        (total, { id, lastupdated }) => total + BigInt(`0x${sha(`${id}\n${lastupdated}`).slice(0, 32)}`),
        0n,
      );
      expect([count, BigInt(`0x${digest}`)]).toEqual([inIt.length, sum % 2n ** 128n]);
      expect(digest).toMatch(/^[0-9a-f]{32}$/);
    }
    expect(sums.buckets).toHaveLength(BUCKETS);
  });

  it('does not depend on the order', () => {
    const [one, other] = [new CopySums(), new CopySums()];
    for (const record of records) one.add(record);
    for (const record of records.toReversed()) other.add(record);
    expect(other.buckets).toEqual(one.buckets);
    expect(bucketOf('a')).toBe(0xca);
  });
});
