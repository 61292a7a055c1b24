import { Problem } from '../../../../../src/platform/http/index.js';
import { parseDigest } from '../../../../../src/replication/feed/http/digest.controller.js';

const to = '2026-11-20T10:00:00.000Z';

/** The parameters of which a 400 complains, each with its sentence. */
function refused(query: Record<string, unknown>): string[] {
  try {
    parseDigest(query);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    return (error.extras.errors ?? []).map((one) =>
      'parameter' in one ? `${one.parameter} ${one.detail}` : '',
    );
  }
  return [];
}

it('256 buckets, none of them listed, unless something else is said', () => {
  expect(parseDigest({ to })).toEqual({ to: new Date(to), buckets: 256, listed: new Set() });
  expect(parseDigest({ to, buckets: '1', bucket: '0' })).toMatchObject({ buckets: 1, listed: new Set([0]) });
});

it('`bucket` may be repeated, up to 64 times', () => {
  const many = Array.from({ length: 64 }, (_, index) => String(index));
  expect(parseDigest({ to, bucket: ['9', '7', '9'] }).listed).toEqual(new Set([7, 9]));
  expect(parseDigest({ to, bucket: many }).listed.size).toBe(64);
  expect(refused({ to, bucket: [...many, '64'] })).toEqual([
    'bucket is given 65 times. Send it 64 times at most.',
  ]);
});

it.each(['0', '257', '-1', '1.5', '', '1e2', '0x10', ' 7', 'all', '1000'])('buckets=%p', (buckets) => {
  expect(refused({ to, buckets })).toEqual([
    `buckets "${buckets}" is not a number of buckets. Send a whole number from 1 to 256, such as 256.`,
  ]);
});

it.each(['7', '256', '-1', '1.5', '', ' 1'])('bucket=%p of seven', (bucket) => {
  expect(refused({ to, buckets: '7', bucket: ['0', bucket] })).toEqual([
    `bucket "${bucket}" is not a bucket. Send a whole number from 0 to 6, such as 0.`,
  ]);
});

it('all that is wrong is told at once', () => {
  expect(refused({ buckets: ['1', '2'], bucket: 'x' })).toEqual([
    'buckets is given more than once. Send it once.',
    'bucket "x" is not a bucket. Send a whole number from 0 to 255, such as 0.',
    'to is missing. Send the offset of max, such as to=2026-11-20T10:00:00.000Z.',
  ]);
  expect(refused({ to: [to, to] })).toEqual(['to is given more than once. Send it once.']);
});
