import { hash } from 'node:crypto';
import { setImmediate as soon } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { giveBack, type ItemsText } from '../../transcode/index.js';
import type { PageBudget } from './page-bytes.js';
import type { Kind } from '../../../kinds/index.js';
import { feedName, updatesOf, FeedSelector } from './feed.js';
import { type Ask, FeedReader } from './opening.js';
import type { PageReading } from './page-reader.js';
import type { OpenPage, Page } from './page-items.js';

/** A digest adds the first 128 bits of each hash, as four 32-bit words. */
const WORDS = 4;
const WORD_BYTES = 4;
const WORD = 2 ** 32;
const HEX = 16;
const WORD_DIGITS = 8;

/** The number of records, and the sum of their hashes as 32 lower-case hexadecimal digits. */
interface Sum {
  count: number;
  digest: string;
}

/** The bucket of a record: the first byte of SHA-256 of its `id`, modulo the number of buckets, 1 to 256. */
export function bucketOf(id: string, buckets: number): number {
  return hash('sha256', id, 'buffer')[0]! % buckets;
}

/**
 * Sums records by bucket, in any order (contract §1). Each summand is the first 16 bytes of SHA-256 of `id`, a line break
 * and `lastupdated`, read as a big-endian number. Sums are modulo 2^128.
 */
export class DigestSums {
  private readonly counts: number[];
  /** Four words per bucket, the most significant first. */
  private readonly words: Uint32Array;

  constructor(private readonly buckets: number) {
    this.counts = Array<number>(buckets).fill(0);
    this.words = new Uint32Array(buckets * WORDS);
  }

  /** Adds a record and returns its bucket. */
  add(id: string, lastupdated: string): number {
    const bucket = bucketOf(id, this.buckets);
    const summand = hash('sha256', `${id}\n${lastupdated}`, 'buffer');
    this.counts[bucket]! += 1;
    addTo(this.words, bucket * WORDS, (word) => summand.readUInt32BE(word * WORD_BYTES));
    return bucket;
  }

  /** The sum of each bucket. */
  all(): Sum[] {
    return this.counts.map((count, bucket) => ({ count, digest: hexText(this.wordsOf(bucket)) }));
  }

  /** The sum of all buckets together. */
  total(): Sum {
    const words = new Uint32Array(WORDS);
    for (let bucket = 0; bucket < this.buckets; bucket += 1) {
      const summand = this.wordsOf(bucket);
      addTo(words, 0, (word) => summand[word]!);
    }
    return { count: this.counts.reduce((sum, count) => sum + count, 0), digest: hexText(words) };
  }

  private wordsOf(bucket: number): Uint32Array {
    return this.words.subarray(bucket * WORDS, (bucket + 1) * WORDS);
  }
}

/** Adds with carry between the 32-bit words. Overflow beyond 128 bits is discarded. */
function addTo(words: Uint32Array, at: number, summand: (word: number) => number): void {
  let carry = 0;
  for (let word = WORDS - 1; word >= 0; word -= 1) {
    const sum = words[at + word]! + summand(word) + carry;
    words[at + word] = sum;
    carry = sum >= WORD ? 1 : 0;
  }
}

function hexText(words: Uint32Array): string {
  return [...words].map((word) => word.toString(HEX).padStart(WORD_DIGITS, '0')).join('');
}

/** Characters of text that are buffered before they are sent. */
const PIECE_LENGTH = 64 * 1024;

/** The parameters of a digest: its upper bound, the number of buckets, and the buckets whose records are listed. */
export interface DigestRequest {
  to: Date;
  buckets: number;
  listed: ReadonlySet<number>;
}

/** An item as read for a digest. Its texts are those that `updates` shows. */
interface DigestItem {
  id: string;
  lastUpdated: string;
}

/**
 * The body of a digest (contract §1), piece by piece. Only the sums stay in memory. The listed records precede the sums,
 * because they are sent as they are read. Hashing yields to the event loop after each portion.
 */
async function* digestText(
  items: AsyncIterable<ItemsText>,
  { to, buckets, listed }: DigestRequest,
  budget: Pick<PageBudget, 'items' | 'letGo'>,
): AsyncGenerator<Buffer, void> {
  const sums = new DigestSums(buckets);
  let text = `{"to":${JSON.stringify(to.toISOString())},`;
  let comma = '';
  if (listed.size > 0) text += '"records":[';
  for await (const portion of items) {
    for (const { id, lastUpdated } of itemsOf(portion)) {
      if (!listed.has(sums.add(id, lastUpdated))) continue;
      text += `${comma}${JSON.stringify({ id, lastupdated: lastUpdated })}`;
      comma = ',';
      budget.items += 1;
    }
    budget.letGo(portion.held);
    await soon();
    if (text.length < PIECE_LENGTH) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (listed.size > 0) text += '],';
  yield Buffer.from(`${text}${JSON.stringify({ ...sums.total(), buckets: sums.all() }).slice(1)}\n`);
}

function itemsOf({ pieces }: ItemsText): DigestItem[] {
  const parts = [...pieces];
  const items = JSON.parse(`[${Buffer.concat(parts).toString()}]`) as DigestItem[];
  parts.forEach(giveBack);
  return items;
}

/**
 * The only fields read of a record: those that decide whether it is delivered, and those that are hashed. All but `_id` are
 * expressions. With a projection by name, MongoDB stops reading a document once it has found as many fields as the projection
 * names, and a duplicate field counts as one of them.
 */
const FIELDS = {
  ...{ _id: 1, organizationid: '$organizationid', appid: '$appid' },
  ...{ id: '$id', lastupdated: '$lastupdated' },
};

/**
 * Opens digests: sums over the records that `updates` of a service delivers up to `to`, read from one snapshot. If the
 * server drops the snapshot before the digest is complete, the request fails or its answer is cut off.
 */
@Injectable()
export class Digests {
  constructor(
    private readonly selector: FeedSelector,
    private readonly feeds: FeedReader,
  ) {}

  /** Throws what the first page of `updates` throws. */
  open(ask: Ask<DigestRequest>, kind: Kind, service: string): Promise<OpenPage> {
    const { application, request, budget } = ask;
    const limit = Infinity;
    const asked = { kind, from: undefined, to: request.to, isFirst: true, limit, ofOneMoment: true };
    return this.feeds.open(
      ask,
      asked,
      () => this.selector.select(application, updatesOf(kind, service)),
      ({ selected, view, to }) => {
        const reading: PageReading = {
          feed: feedName(application, { kind, by: { service }, shows: 'digest' }),
          ...{ budget, view, fields: FIELDS },
          selection: selected.selection!,
          shape: { item: 'delete' },
          place: { lastoffsetid: undefined, items: limit },
        };
        const items = this.feeds.items.items(reading, { to, limit });
        return { page: begun(digestText(items, { ...request, to }, budget)) };
      },
    );
  }
}

/** Waits for the first piece, so that an earlier failure can still be answered as an error. */
async function begun(pieces: AsyncGenerator<Buffer, void>): Promise<Page> {
  const first = (await pieces.next()).value as Buffer;
  return { headers: {}, body: prepend(first, pieces) };
}

async function* prepend(first: Buffer, pieces: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  yield first;
  yield* pieces;
}
