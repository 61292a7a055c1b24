import { mongo, type Model } from 'mongoose';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { ServiceKey } from '../../application/index.js';
import { isDuplicateKey } from '../../platform/database/index.js';
import type { Work, FilterVersion, FilterVersionChange, KnownVersion } from '../protocol/index.js';
import { fieldsAt, filterAt, isTooLarge, areReadable } from './stored-filters.js';
import { ChangedMarks } from './heads.js';
import { FILTER_VERSION_MODEL } from './collections.schema.js';

/**
 * A query for the documents of these services, by the index on the service key. Names are grouped by application and
 * kind: MongoDB plans each branch of `$or` separately, and with one branch for each service planning takes most of the
 * time.
 */
export function amongServices(keys: ServiceKey[]): mongo.Document {
  const parts = new Map<string, { of: Omit<ServiceKey, 'name'>; names: string[] }>();
  for (const { name, organizationid, appid, kind } of keys) {
    const of = { organizationid, appid, kind };
    const part = JSON.stringify(of);
    const names = parts.get(part)?.names ?? [];
    names.push(name);
    parts.set(part, { of, names });
  }
  return { $or: [...parts.values()].map(({ of, names }) => ({ ...of, name: { $in: names } })) };
}

/** An entry with those of its filters that can be read. */
export interface ReadVersion extends KnownVersion, ServiceKey {
  _id: mongo.ObjectId;
}

/** A change of an entry, applied only if the entry still has the version that was read. */
interface EntryChange {
  key: ServiceKey;
  /** Undefined if there is no entry yet. */
  entry: ReadVersion | undefined;
  change: FilterVersionChange;
}

const READ = {
  ...{ organizationid: 1, appid: 1, kind: 1, name: 1, state: 1, pending: 1, version: 1 },
  ...{ filter: filterAt('$filter'), previous: filterAt('$previous'), isUnreadable: isTooLarge('$filter') },
  ...{ fields: fieldsAt('$fields'), previousFields: fieldsAt('$previousFields') },
};

const VERSION = { _id: 0, organizationid: 1, appid: 1, kind: 1, name: 1, version: 1 };
const AT_ONCE = 1000;
/** What an entry has only while records are to be re-stamped for it. */
const PREVIOUS = { previous: '', previousFields: '' } as const;
const OF_STAMPING = { pendingSince: '', stamping: '' } as const;

/**
 * Reads and writes `tidemark.filterversions`. Only the watcher writes, by compare-and-set on the version that it has
 * read, except when it counts failures.
 */
@Injectable()
export class FilterVersions {
  constructor(
    @InjectModel(FILTER_VERSION_MODEL) private readonly entries: Model<FilterVersion>,
    private readonly changed: ChangedMarks,
  ) {}

  /** The existing entries of these services. */
  async of(keys: ServiceKey[]): Promise<ReadVersion[]> {
    if (keys.length === 0) return [];
    const found = this.entries.collection.find<ReadVersion>(amongServices(keys), { projection: READ });
    return (await found.toArray()).map(readable);
  }

  /** The version of each entry, without the filters. */
  async *versions(): AsyncGenerator<(ServiceKey & Pick<FilterVersion, 'version'>)[]> {
    const found = this.entries.collection.find<ServiceKey & Pick<FilterVersion, 'version'>>(
      {},
      { projection: VERSION, batchSize: AT_ONCE },
    );
    while (await found.hasNext()) yield found.readBufferedDocuments();
  }

  /**
   * Writes a change and returns the new entry; undefined if another writer was first. A change without a filter keeps the
   * stored one.
   */
  async write(
    key: ServiceKey,
    entry: ReadVersion | undefined,
    change: FilterVersionChange,
  ): Promise<ReadVersion | undefined> {
    if (entry === undefined) return this.insert({ _id: new mongo.ObjectId(), ...key }, change);
    const written = await this.replace(entry, updateTo(change)).finally(() => this.changed.edited(key));
    return written ? { _id: entry._id, ...key, ...change } : undefined;
  }

  /** Writes several changes. Returns false if another writer was first with any of them; which one is not reported. */
  async writeAll(changes: EntryChange[]): Promise<boolean> {
    if (changes.length === 0) return true;
    const writes = changes.map(({ key, entry, change }): mongo.AnyBulkWriteOperation<FilterVersion> => {
      if (entry === undefined) return { updateOne: insertOf({ _id: new mongo.ObjectId(), ...key }, change) };
      const { _id, version } = entry;
      return { updateOne: { filter: { _id, version }, update: updateTo(change) } };
    });
    const collection = this.entries.collection as unknown as mongo.Collection<FilterVersion>;
    const { upsertedCount, matchedCount } = await collection
      .bulkWrite(writes, { ordered: false })
      .finally(() => changes.forEach(({ key }) => this.changed.edited(key)));
    return upsertedCount + matchedCount === changes.length;
  }

  /** Marks the re-stamping as complete. Returns false if another writer has changed the entry first. */
  settle(entry: ReadVersion): Promise<boolean> {
    return this.replace(entry, { $set: { pending: false }, $unset: { ...PREVIOUS, ...OF_STAMPING } });
  }

  /** Stores the progress of re-stamping, if it is still pending for this version. */
  async saveProgress({ _id, version }: ReadVersion, { done, total, pace }: Partial<Work>): Promise<void> {
    const fields = Object.entries({ done, total, pace }).filter(([, value]) => value !== undefined);
    const $set = Object.fromEntries(fields.map(([name, value]) => [`stamping.${name}`, value]));
    await this.entries.collection.updateOne({ _id, version, pending: true }, { $set });
  }

  /** Counts a failed attempt to re-stamp. */
  async countFailure({ organizationid, appid, kind, name }: ServiceKey): Promise<void> {
    const pending = { organizationid, appid, kind, name, pending: true };
    const failed = { $inc: { 'stamping.failures': 1 }, $unset: { 'stamping.pace': '' } };
    await this.entries.collection.updateOne(pending, failed);
  }

  /**
   * Marks a service as invalid and increments the version; its entry is created if there is none. Nothing else of an
   * entry changes: pending re-stamps still have to be done.
   */
  async invalidate(key: ServiceKey, entry: ReadVersion | undefined): Promise<void> {
    if (entry === undefined)
      await this.insert(
        { _id: new mongo.ObjectId(), ...key },
        { state: 'invalid', pending: false, version: 1 },
      );
    else if (entry.state !== 'invalid')
      await this.replace(entry, { $set: { state: 'invalid' }, $inc: { version: 1 } }).finally(() =>
        this.changed.edited(key),
      );
  }

  private async insert(
    key: ServiceKey & Pick<ReadVersion, '_id'>,
    change: FilterVersionChange,
  ): Promise<ReadVersion | undefined> {
    const { filter, update, upsert } = insertOf(key, change);
    try {
      await this.entries.collection.updateOne(filter, update, { upsert });
      return { ...key, ...change };
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    } finally {
      this.changed.edited(key);
    }
  }

  /** Updates the entry only if its version is still the one that was read. */
  private async replace({ _id, version }: ReadVersion, update: mongo.Document): Promise<boolean> {
    const { matchedCount } = await this.entries.collection.updateOne({ _id, version }, update);
    return matchedCount === 1;
  }
}

/**
 * An upsert that always inserts, because its `_id` is new. Not an insert, because only updates can store the database's
 * clock.
 */
function insertOf({ _id, ...key }: ServiceKey & Pick<ReadVersion, '_id'>, change: FilterVersionChange) {
  const { $set, $currentDate } = updateTo(change);
  return {
    filter: { _id },
    update: { $set: { ...key, ...$set }, ...($currentDate && { $currentDate }) },
    upsert: true,
  };
}

function updateTo({ fields, previousFields, ...change }: FilterVersionChange) {
  const { pendingSince, ...others } = OF_STAMPING;
  const outdated = {
    ...others,
    ...(change.previous === undefined && PREVIOUS),
    ...(previousFields === undefined && { previousFields: '' as const }),
    ...(change.state === 'on' && fields === undefined && { fields: '' as const }),
    ...(!change.pending && { pendingSince }),
  };
  return {
    $set: { ...change, ...(fields && { fields }), ...(previousFields && { previousFields }) },
    $unset: outdated,
    ...(change.pending && { $currentDate: { pendingSince: true as const } }),
  };
}

/**
 * If the fields cannot be read, the entry is treated as if its filter could not be read: all records are re-stamped.
 */
function readable({ fields, previousFields, ...entry }: ReadVersion): ReadVersion {
  const isUnreadable = entry.isUnreadable === true || !areReadable(fields);
  if (!areReadable(previousFields)) delete entry.previous;
  return {
    ...entry,
    ...(areReadable(fields) && fields !== undefined && { fields }),
    ...(areReadable(previousFields) && previousFields !== undefined && { previousFields }),
    ...(isUnreadable && { isUnreadable }),
  };
}
