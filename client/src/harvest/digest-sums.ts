import { createHash } from 'node:crypto';
import type { HeldStamp } from './store.js';

/** The number of buckets for ids: one for each first byte of their SHA-256. */
export const BUCKETS = 256;

const MODULUS = 1n << 128n;

export interface BucketSum {
  count: number;
  /** 32 hex digits. */
  digest: string;
}

export function bucketOf(id: string): number {
  return createHash('sha256').update(id).digest()[0]!;
}

/** Adds up what is held, bucket by bucket, as the digest of a service does (contract §1). */
export class CopySums {
  private readonly counts = new Array<number>(BUCKETS).fill(0);
  private readonly sums = new Array<bigint>(BUCKETS).fill(0n);

  add({ id, lastupdated }: HeldStamp): void {
    const bucket = bucketOf(id);
    const sum = createHash('sha256').update(`${id}\n${lastupdated}`).digest();
    const number = (sum.readBigUInt64BE(0) << 64n) + sum.readBigUInt64BE(8);
    this.counts[bucket]! += 1;
    this.sums[bucket] = (this.sums[bucket]! + number) % MODULUS;
  }

  get buckets(): BucketSum[] {
    return this.counts.map((count, bucket) => ({
      count,
      digest: this.sums[bucket]!.toString(16).padStart(32, '0'),
    }));
  }
}
