import type { mongo } from 'mongoose';
import { isTimeout } from '../../../database/index.js';
import type { Selection, Window } from '../query/index.js';
import { type ItemShape, type ItemsText, itemsText, tallyOf } from '../transcode/index.js';
import { type Breadth, FIRST_BREADTH, narrower, relaxed, wider } from './breadth.js';
import type { ItemSizes } from './item-sizes.js';
import type { Share } from './page-bytes.js';
import type { ReadBatch, PageReader } from './page-reader.js';

/** Reads as of the moment of the page; where the server lets go of that meanwhile, as of a later one. */
export type AsOf = <T>(read: (at: mongo.Timestamp) => Promise<T>) => Promise<T>;

/** A reply and its text together take about so many times the reply. */
const WITH_TEXT = 2;

const IDS_OF_A_REPLY = 50_000;

/** What a page is read with, and from. */
export interface PageSource {
  steps: PageReader;
  sizes: ItemSizes;
  asOf: AsOf;
  selection: Selection;
  shape: ItemShape;
  /** The page's share of the memory for pages. */
  share: Share;
  /** Told before each reply how far the reading has come: behind which `_id`, and how many items are still to come. */
  passed: (place: Pick<Window, 'lastoffsetid' | 'limit'>) => void;
}

/** How far a page has come. */
interface Position {
  window: Window;
  breadth: Breadth;
}

/** The items of a window in `_id` order, at most its limit, step by step: one reply is held at a time. */
export async function* itemsOf(source: PageSource, window: Window): AsyncGenerator<ItemsText, void> {
  const { selection, sizes, share } = source;
  let position: Position | undefined = { window, breadth: FIRST_BREADTH };
  while (position !== undefined) {
    source.passed(position.window);
    const step: Taken = await takeItems(source, position);
    sizes.learn(selection, step.documents.length, step.found);
    let count = 0;
    try {
      for await (const items of textOf(source, step.documents)) {
        count += items.count;
        share.hold(items.held);
        yield items;
      }
    } finally {
      share.letGo(step.documents.length);
    }
    position = behind(step, count);
  }
}

/** The items of a reply. Where numbers are among the ids, the ledger is asked which of them are delivered. */
async function* textOf(
  { steps, asOf, selection, shape, share }: PageSource,
  documents: Uint8Array,
): AsyncGenerator<ItemsText, void> {
  const from = yield* itemsText(documents, shape);
  if (from === undefined) return;
  const texts = await asOf((at) => steps.asTexts({ documents, from }, selection, at));
  share.hold(texts.length);
  try {
    yield* itemsText(texts, shape);
  } finally {
    share.letGo(texts.length);
  }
}

/** One reply, as large as there is room for it and its text. */
async function takeItems(source: PageSource, position: Position): Promise<Taken> {
  const { sizes, selection, share } = source;
  const { limit } = position.window;
  const least = WITH_TEXT * sizes.bytesOfOne(selection);
  const room = await share.room({ least, wanted: least * Math.min(limit, sizes.ofOneReply(selection)) });
  try {
    const asked = Math.min(limit, Math.max(1, Math.floor(room / least)));
    const step = await take(source, position, { limit: asked });
    share.hold(step.documents.length);
    return step;
  } finally {
    share.letGo(room);
  }
}

/** The `_id` of the last item of a window, where it holds at least as many as its limit. */
export async function lastOf(source: PageSource, window: Window): Promise<mongo.ObjectId | undefined> {
  let position: Position | undefined = { window, breadth: FIRST_BREADTH };
  while (position !== undefined) {
    source.passed(position.window);
    const limit = Math.min(position.window.limit, IDS_OF_A_REPLY);
    const step: Taken = await take(source, position, { limit, idsOnly: true });
    const { count, last } = tallyOf(step.documents);
    if (count === position.window.limit) return last;
    position = behind(step, count);
  }
  return undefined;
}

/** A step, what it was asked, and where the page was then. */
interface Taken extends ReadBatch, Position {
  asked: number;
}

/** One step; one that took too long is tried again over less. */
async function take(
  { steps, asOf, selection }: PageSource,
  { window, breadth: first }: Position,
  { limit, ...options }: { limit: number; idsOnly?: boolean },
): Promise<Taken> {
  for (let breadth: Breadth | undefined = first; ;) {
    const of = { selection, window: { ...window, limit }, breadth, ...options };
    try {
      return { ...(await asOf((at) => steps.readBatch({ ...of, at }))), window, breadth, asked: limit };
    } catch (error) {
      breadth = isTimeout(error) ? narrower(breadth, limit) : undefined;
      if (breadth === undefined) throw error;
    }
  }
}

/** Where the page goes on behind a step that gave so many items; nothing where it is full, or the window at its end. */
function behind({ window, breadth, asked, found, reached }: Taken, count: number): Position | undefined {
  const limit = window.limit - count;
  if (limit === 0 || reached === undefined) return undefined;
  const next = found < asked ? wider(breadth, { asked, count: found }) : breadth;
  return { window: { ...window, limit, lastoffsetid: reached }, breadth: relaxed(next) };
}
