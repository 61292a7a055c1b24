import { setImmediate as soon } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { alongIndex, bareCommand, isTimeout, SAFE_BSON } from '../../platform/database/plain.js';
import { BY_STAMP, DELIVERABLE, FIRST_ID, recordsIn, termsOf } from '../../record/index.js';
import { ENTRIES_BY_OWNER, LEDGER, type LedgerEntry } from '../store/plain.js';
import { numberedIn, rawBatch, renamed } from '../transcode/index.js';
import { SampleCollector, type SeenItems } from './seen.js';
import { itemsIn, type ServedService } from './served.js';
import type { Walk } from './stored-schemas.js';

/** A service with at most this many records is read as a whole, unless the records are too large. */
const MOST_WHOLE = 1000;
/**
 * A sample of a larger service has the newest records of the application and kind, and some records at each of several
 * places of the walk. If the first sample then has fewer than {@link NEWEST} records, it also has some that the filter
 * finds.
 */
const NEWEST = 500;
const PLACES = 20;
const AT_PLACE = 25;
/** Documents per query. */
const TOGETHER = 50;
/**
 * The approximate maximum of the BSON that is read of a whole service, or for examples (bytes). Each part of a sample
 * of a larger service may have half of it.
 */
const MOST_BYTES = 8 * 1024 * 1024;
/** From a longer reply, the server may have omitted documents (bytes). */
const FULL_REPLY = 15 * 1024 * 1024;
/** Time limit of a query (milliseconds). */
const READ_MS = 2000;
/** Time limit of the query that determines whether a service has few records (milliseconds). */
const LOOK_MS = 1000;
/** A reply may take this much longer than the time limit of its query (milliseconds). */
const SPARE_MS = 1000;
/** The comment of the queries of samples, and of those for the examples in a schema. Feeds use other comments. */
export const COMMENT = 'tidemark schema';
const BY_ID = { organizationid: 1, appid: 1, _id: 1 } as const;

/** What a sample has shown. */
export interface SchemaSample {
  seen: SeenItems;
  /** Whether these are all records of the service. */
  isWhole: boolean;
  /** The walk after this sample; absent if these are all records. */
  walk?: Walk;
}

/**
 * A sample of the records that `updates` of a service delivers. Of many records, it has the newest ones, which show new
 * fields soon, and some at distances along `_id` that are equal on average, which represent all records. Each sample
 * continues the walk of the previous one, so in time every part of the collection is visited, and a sample examines a
 * bounded number of index entries and records.
 */
export async function sampled(
  db: mongo.Db,
  served: ServedService,
  { known, walk: before }: { known: SeenItems | undefined; walk: Walk | undefined },
): Promise<SchemaSample> {
  const reading = new Reading(db, served);
  const found = await reading.found();
  const all = new SampleCollector(known);
  const isFew = found !== undefined && found.length <= MOST_WHOLE;
  if (isFew && (await reading.read(found, MOST_BYTES, (data) => all.add(data))))
    return { seen: all.seen, isWhole: true };
  const walk = { ...(before ?? { behind: null, round: 0, stride: FIRST_STRIDE, places: 0 }) };
  const some = new SampleCollector(known);
  for (const ids of [await reading.newest(NEWEST), await reading.walked(walk)])
    await reading.read(ids, MOST_BYTES / 2, (data) => some.add(data));
  // Only in the first sample: these are always the same records, so they do not show what has vanished from the others.
  if (known === undefined && found !== undefined && some.seen.records < NEWEST) {
    const spread = found.filter((_, at) => at % 2 === 0);
    await reading.read(spread, MOST_BYTES / 2, (data) => some.add(data));
  }
  return { seen: some.seen, isWhole: false, walk };
}

/** How to read the records: the number in each reply, and a callback for each reply. */
interface Replies {
  together: number;
  noted?: (documents: Uint8Array) => void;
}

/** The `data` of the newest items, for examples. */
export async function newestDatas(
  db: mongo.Db,
  served: ServedService,
  count: number,
  replies: Replies,
): Promise<unknown[]> {
  const reading = new Reading(db, served);
  const datas: unknown[] = [];
  await reading.read(await reading.newest(count), MOST_BYTES, (data) => datas.push(data), replies);
  return datas;
}

const FIRST_STRIDE = 1000;
const SHORTEST_STRIDE = 2 * AT_PLACE;
const LONGEST_STRIDE = 5000;
/** After a round of more samples than this, the strides become longer. */
const LONG_ROUND = 10;

class Reading {
  private readonly records: mongo.Collection;
  private readonly tenant: { organizationid: string; appid: string };

  constructor(
    private readonly db: mongo.Db,
    private readonly served: ServedService,
  ) {
    const { organizationid, appid, kind } = served.key;
    this.records = recordsIn(db, kind);
    this.tenant = { organizationid, appid };
  }

  /**
   * The `_id`s of the records of the service, at most {@link MOST_WHOLE} + 1; undefined if the query exceeds its time
   * limit. A query with a filter does not hint an index, because an operator may have created one for the filter.
   */
  async found(): Promise<mongo.ObjectId[] | undefined> {
    const query = this.matching({ $gte: FIRST_ID });
    const options = { projection: { _id: 1 }, limit: MOST_WHOLE + 1, maxTimeMS: LOOK_MS, comment: COMMENT };
    const isFiltered = Object.keys(this.served.filter).length > 0;
    try {
      return isFiltered
        ? (await this.records.find(query, options).toArray()).map(({ _id }) => _id)
        : await this.ids(BY_ID, query, options);
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  }

  /** The records of the application and kind with the greatest stamps, whether or not they match. */
  async newest(limit: number): Promise<mongo.ObjectId[]> {
    const query = { ...this.tenant, lastupdated: { $type: 'date' }, _id: { $gte: FIRST_ID } };
    try {
      return await this.ids(BY_STAMP, query, { limit, sort: { lastupdated: -1, _id: -1 } });
    } catch (error) {
      // Once the index has contained an array in place of a stamp, MongoDB has to sort all stamps.
      if (isTimeout(error)) return [];
      throw error;
    }
  }

  /**
   * The `_id`s of some records at the next places of the walk. Advances `walk`; at the end of the collection, its next
   * round begins.
   */
  async walked(walk: Walk): Promise<mongo.ObjectId[]> {
    const found: mongo.ObjectId[] = [];
    for (let place = 0; place < PLACES; place += 1) {
      const query = { ...this.tenant, _id: { ...(walk.behind ? { $gt: walk.behind } : { $gte: FIRST_ID }) } };
      const skip = Math.floor(Math.random() * 2 * (walk.stride - AT_PLACE));
      const ids = await this.ids(BY_ID, query, { skip, limit: AT_PLACE, sort: { _id: 1 } });
      found.push(...ids);
      walk.places += 1;
      if (ids.length === AT_PLACE) walk.behind = ids.at(-1)!;
      else return (nextRound(walk), found);
    }
    return found;
  }

  /**
   * Calls `take` with the `data` of each of these records that the service delivers. Returns false if some may have
   * been left out, because they are too large: for `most` bytes, for a reply, or for an item.
   */
  async read(
    ids: mongo.ObjectId[],
    most: number,
    take: (data: unknown) => void,
    { together, noted }: Replies = { together: TOGETHER },
  ): Promise<boolean> {
    const { key, mask } = this.served;
    let bytes = 0;
    for (let at = 0; at < ids.length; at += together) {
      const documents = await this.documents(ids.slice(at, at + together));
      noted?.(documents);
      bytes += documents.length;
      for (const items of itemsIn(documents, { kind: key.kind, mask })) {
        if (items === undefined) bytes = Infinity;
        for (const item of items ?? []) take((item as { data: unknown }).data);
        await soon();
      }
      if (bytes > most || documents.length > FULL_REPLY) return false;
    }
    return true;
  }

  private async documents(ids: mongo.ObjectId[]): Promise<Uint8Array> {
    const filter = this.matching({ $in: ids });
    const terms = termsOf(this.served.key.kind);
    const command = {
      find: this.records.collectionName,
      ...(terms === undefined
        ? { filter }
        : { filter: terms.filter(filter), projection: terms.projection(undefined) }),
      hint: { _id: 1 },
      ...{ limit: ids.length, batchSize: ids.length, singleBatch: true },
      ...{ comment: COMMENT, maxTimeMS: READ_MS },
    };
    const options = {
      ...SAFE_BSON,
      raw: true,
      readPreference: 'primary',
      within: READ_MS + SPARE_MS,
    } as const;
    const reply = await bareCommand(this.db, command, options);
    return this.withTexts(rawBatch(reply['cursor'] as Uint8Array).documents);
  }

  /**
   * Replaces each numeric `id` by its text. Omits records that the ledger does not know as a number under this text,
   * because they are not delivered (contract §4).
   */
  private async withTexts(documents: Uint8Array): Promise<Uint8Array> {
    const numbered = numberedIn(documents, 0);
    if (numbered.length === 0) return documents;
    const { kind } = this.served.key;
    const among = {
      ...{ kind, alive: true, isNumber: true as const, owner: { $in: numbered.map(({ _id }) => _id) } },
      ...{ ...this.tenant, id: { $in: numbered.flatMap(({ text }) => text ?? []) } },
    };
    const options = { projection: { _id: 0, owner: 1, id: 1 }, maxTimeMS: READ_MS, comment: COMMENT };
    const ledger = this.db.collection<LedgerEntry>(LEDGER);
    const entries = await alongIndex(ledger, ENTRIES_BY_OWNER, (hint) =>
      ledger.find(among, { ...options, hint }).toArray(),
    );
    const known = new Set(entries.map(({ owner, id }) => `${String(owner)} ${id}`));
    return renamed(documents, 0, ({ _id, text }) => known.has(`${_id.toHexString()} ${text}`));
  }

  private async ids(
    along: typeof BY_ID | typeof BY_STAMP,
    query: mongo.Document,
    options: mongo.FindOptions,
  ): Promise<mongo.ObjectId[]> {
    const found = await alongIndex(this.records, along, (hint) =>
      this.records
        .find(query, { projection: { _id: 1 }, maxTimeMS: READ_MS, comment: COMMENT, ...options, hint })
        .toArray(),
    );
    return found.map(({ _id }) => _id);
  }

  private matching(_id: mongo.Document): mongo.Document {
    return { $and: [{ ...this.tenant, _id }, DELIVERABLE, this.served.filter] };
  }
}

function nextRound(walk: Walk): void {
  const samples = walk.places / PLACES;
  if (samples < 1) walk.stride = Math.max(SHORTEST_STRIDE, Math.floor(walk.stride / 2));
  if (samples > LONG_ROUND) walk.stride = Math.min(LONGEST_STRIDE, walk.stride * 2);
  Object.assign(walk, { behind: null, places: 0, round: walk.round + 1 });
}
