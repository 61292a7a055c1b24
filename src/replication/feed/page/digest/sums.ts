import { hash } from 'node:crypto';

/** Bytes of a hash that are added: 128 bits, as words of 32. */
const WORDS = 4;
const WORD_BYTES = 4;
const WORD = 2 ** 32;
const HEX = 16;
const WORD_DIGITS = 8;

/** How many records there are, and the sum of their hashes: 32 lower-case hexadecimal digits. */
export interface Sum {
  count: number;
  digest: string;
}

/** The bucket of a record: the first byte of SHA-256 of its `id`, modulo the number of buckets, 1 to 256. */
export function bucketOf(id: string, buckets: number): number {
  return hash('sha256', id, 'buffer')[0]! % buckets;
}

/**
 * Adds up records by bucket, in any order (contract §1): of SHA-256 of `id`, a line break and `lastupdated` the first 16
 * bytes, as a big-endian number modulo 2^128.
 */
export class DigestSums {
  private readonly counts: number[];
  /** Of each bucket four words, the most significant first. */
  private readonly words: Uint32Array;

  constructor(private readonly buckets: number) {
    this.counts = Array<number>(buckets).fill(0);
    this.words = new Uint32Array(buckets * WORDS);
  }

  /** Adds a record, and tells in which bucket it is. */
  add(id: string, lastupdated: string): number {
    const bucket = bucketOf(id, this.buckets);
    const summand = hash('sha256', `${id}\n${lastupdated}`, 'buffer');
    this.counts[bucket]! += 1;
    addTo(this.words, bucket * WORDS, (word) => summand.readUInt32BE(word * WORD_BYTES));
    return bucket;
  }

  /** The sum of each bucket. */
  all(): Sum[] {
    return this.counts.map((count, bucket) => ({ count, digest: textOf(this.wordsOf(bucket)) }));
  }

  /** The sum of all buckets together. */
  total(): Sum {
    const words = new Uint32Array(WORDS);
    for (let bucket = 0; bucket < this.buckets; bucket += 1) {
      const summand = this.wordsOf(bucket);
      addTo(words, 0, (word) => summand[word]!);
    }
    return { count: this.counts.reduce((sum, count) => sum + count, 0), digest: textOf(words) };
  }

  private wordsOf(bucket: number): Uint32Array {
    return this.words.subarray(bucket * WORDS, (bucket + 1) * WORDS);
  }
}

/** What goes beyond 32 bits is carried on, and beyond 128 bits lost. */
function addTo(words: Uint32Array, at: number, summand: (word: number) => number): void {
  let carry = 0;
  for (let word = WORDS - 1; word >= 0; word -= 1) {
    const sum = words[at + word]! + summand(word) + carry;
    words[at + word] = sum;
    carry = sum >= WORD ? 1 : 0;
  }
}

function textOf(words: Uint32Array): string {
  return [...words].map((word) => word.toString(HEX).padStart(WORD_DIGITS, '0')).join('');
}
