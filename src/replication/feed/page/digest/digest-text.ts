import { setImmediate as soon } from 'node:timers/promises';
import { giveBack, type ItemsText } from '../../transcode/index.js';
import type { Share } from '../page-bytes.js';
import { DigestSums } from './sums.js';

/** Characters of text that are gathered before they are sent. */
const PIECE_LENGTH = 64 * 1024;

/** What is asked of a digest: up to when, in how many buckets, and of which buckets the records are listed. */
export interface DigestRequest {
  to: Date;
  buckets: number;
  listed: ReadonlySet<number>;
}

/** An item as it is read for a digest: with the texts that the items of `updates` show. */
interface DigestItem {
  id: string;
  lastUpdated: string;
}

/**
 * The body of a digest (contract §1), piece by piece: nothing of what is read is kept but sums. The records that are listed
 * stand before these, since they are sent as they are read. Hashing leaves the process to others now and then.
 */
export async function* digestText(
  items: AsyncIterable<ItemsText>,
  { to, buckets, listed }: DigestRequest,
  share: Pick<Share, 'items' | 'letGo'>,
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
      share.items += 1;
    }
    share.letGo(portion.held);
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
