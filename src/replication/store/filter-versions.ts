import { mongo, type Model } from 'mongoose';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { ServiceKey } from '../../application/index.js';
import { isDuplicateKey } from '../../database/index.js';
import type { Work, FilterVersion, FilterVersionChange, KnownVersion } from '../protocol/index.js';
import { filterAt, isTooLarge } from './stored-filters.js';
import { FILTER_VERSION_MODEL } from './collections.schema.js';

/**
 * The documents of these services, by the index of what names a service. Names are listed for each application and kind: MongoDB
 * plans each part of `$or` by itself, which takes most of the time where each service is a part.
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

/** An entry with as much of its filters as can be read. */
export interface ReadVersion extends KnownVersion, ServiceKey {
  _id: mongo.ObjectId;
}

/** What an entry becomes, if it still has the version that was read. */
interface EntryChange {
  key: ServiceKey;
  /** Absent: there is none yet. */
  entry: ReadVersion | undefined;
  change: FilterVersionChange;
}

const READ = {
  ...{ organizationid: 1, appid: 1, kind: 1, name: 1, state: 1, pending: 1, version: 1 },
  ...{ filter: filterAt('$filter'), previous: filterAt('$previous'), isTooLarge: isTooLarge('$filter') },
};

const VERSION = { _id: 0, organizationid: 1, appid: 1, kind: 1, name: 1, version: 1 };
const AT_ONCE = 1000;
/** What an entry has while records are to be stamped for it. */
const OF_STAMPING = { pendingSince: '', stamping: '' } as const;

/** Reads and writes `tidemark.filterversions`. Only the watcher writes, and only in place of the version that it has read. */
@Injectable()
export class FilterVersions {
  constructor(@InjectModel(FILTER_VERSION_MODEL) private readonly entries: Model<FilterVersion>) {}

  /** The entries of these services, as far as there are any. */
  async of(keys: ServiceKey[]): Promise<ReadVersion[]> {
    if (keys.length === 0) return [];
    return this.entries.collection.find<ReadVersion>(amongServices(keys), { projection: READ }).toArray();
  }

  /** Which version each has, without the filters. */
  async *versions(): AsyncGenerator<(ServiceKey & Pick<FilterVersion, 'version'>)[]> {
    const found = this.entries.collection.find<ServiceKey & Pick<FilterVersion, 'version'>>(
      {},
      { projection: VERSION, batchSize: AT_ONCE },
    );
    while (await found.hasNext()) yield found.readBufferedDocuments();
  }

  /** Nothing where somebody else was quicker. A change that names no filter leaves the one that is stored. */
  async write(
    key: ServiceKey,
    entry: ReadVersion | undefined,
    change: FilterVersionChange,
  ): Promise<ReadVersion | undefined> {
    if (entry === undefined) return this.insert({ _id: new mongo.ObjectId(), ...key, ...change });
    const written = await this.replace(entry, updateTo(change));
    return written ? { _id: entry._id, ...key, ...change } : undefined;
  }

  /** The same of several. False where somebody else was quicker with one of them: it is not told which. */
  async writeAll(changes: EntryChange[]): Promise<boolean> {
    if (changes.length === 0) return true;
    const writes = changes.map(({ key, entry, change }): mongo.AnyBulkWriteOperation<FilterVersion> => {
      if (entry === undefined)
        return { insertOne: { document: { _id: new mongo.ObjectId(), ...key, ...change } } };
      const { _id, version } = entry;
      return { updateOne: { filter: { _id, version }, update: updateTo(change) } };
    });
    const collection = this.entries.collection as unknown as mongo.Collection<FilterVersion>;
    const { insertedCount, matchedCount } = await collection.bulkWrite(writes, { ordered: false });
    return insertedCount + matchedCount === changes.length;
  }

  /** The records are stamped. False where somebody else was quicker. */
  settle(entry: ReadVersion): Promise<boolean> {
    return this.replace(entry, { $set: { pending: false }, $unset: { previous: '', ...OF_STAMPING } });
  }

  /** Stores how far the stamping has come, if the records are still to be stamped for this version. */
  async tell({ _id, version }: ReadVersion, { done, total, pace }: Partial<Work>): Promise<void> {
    const told = Object.entries({ done, total, pace }).filter(([, value]) => value !== undefined);
    const $set = Object.fromEntries(told.map(([name, value]) => [`stamping.${name}`, value]));
    await this.entries.collection.updateOne({ _id, version, pending: true }, { $set });
  }

  /** Counts an attempt to stamp that failed. */
  async countFailure({ organizationid, appid, kind, name }: ServiceKey): Promise<void> {
    const pending = { organizationid, appid, kind, name, pending: true };
    const failed = { $inc: { 'stamping.failures': 1 }, $unset: { 'stamping.pace': '' } };
    await this.entries.collection.updateOne(pending, failed);
  }

  /** Makes a service invalid, and leaves everything else of it as it is: what is pending is still to be done. */
  async invalidate(key: ServiceKey, entry: ReadVersion | undefined): Promise<void> {
    if (entry === undefined)
      await this.insert({ _id: new mongo.ObjectId(), ...key, state: 'invalid', pending: false, version: 1 });
    else if (entry.state !== 'invalid')
      await this.replace(entry, { $set: { state: 'invalid' }, $inc: { version: 1 } });
  }

  private async insert(entry: ReadVersion): Promise<ReadVersion | undefined> {
    try {
      await this.entries.collection.insertOne({ ...entry });
      return entry;
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  /** Only if the version is still the one that was read. */
  private async replace({ _id, version }: ReadVersion, update: mongo.Document): Promise<boolean> {
    const { matchedCount } = await this.entries.collection.updateOne({ _id, version }, update);
    return matchedCount === 1;
  }
}

function updateTo(change: FilterVersionChange): mongo.UpdateFilter<FilterVersion> {
  const { pendingSince, ...others } = OF_STAMPING;
  const outdated = {
    ...others,
    ...(change.previous === undefined && { previous: '' as const }),
    ...(!change.pending && { pendingSince }),
  };
  return {
    $set: change,
    $unset: outdated,
    ...(change.pending && { $currentDate: { pendingSince: true as const } }),
  };
}
