import { serialize } from 'bson';
import type { mongo } from 'mongoose';
import { type Filter, filterFault, isEnabled, type ServiceKey } from '../../application/pure.js';
import type { Work } from './estimates.js';

/**
 * The filter of a service that is in force (design §3, Filters take effect in one place). There is one document for each
 * application, kind and name ever served, and none is ever removed. Feeds read these documents, not `services`.
 */
export interface FilterVersion extends ServiceKey {
  _id: mongo.ObjectId;
  state: FilterState;
  /** The last valid filter; absent if there was none yet. */
  filter?: Filter;
  /**
   * The previous filter, while the records that the two filters judge differently are being re-stamped. Absent while all
   * records are being re-stamped, because one of the two filters cannot be read.
   */
  previous?: Filter;
  /** Whether records remain to be re-stamped. */
  pending: boolean;
  /** When `pending` was set, by the database's clock; absent if `pending` is false. */
  pendingSince?: Date;
  /** Absent before the first progress report, and if `pending` is false. */
  stamping?: EditProgress;
  /** Grows with every change. A write is conditional on the version that the writer has read. */
  version: number;
}

/**
 * The progress of re-stamping after an edit: how many records of the application and kind were checked, and about how many
 * there are.
 */
export interface EditProgress extends Partial<Work> {
  /** Failed attempts. */
  failures?: number;
}

/**
 * `on`; `off`: removed or disabled; `invalid`: not a filter, rejected by MongoDB, or impossible to put into force; `beyond`:
 * the application has more services than allowed.
 */
export type FilterState = 'on' | 'off' | 'invalid' | 'beyond';

/** The filter that `services` requests. */
export type WantedFilter = { state: 'on'; filter: Filter } | { state: 'off' | 'invalid' | 'beyond' };

/** The new values of an entry; `previous` only if records have to be re-stamped. */
export type FilterVersionChange = Pick<
  FilterVersion,
  'state' | 'filter' | 'previous' | 'pending' | 'version'
>;

/** The known part of an entry. */
export interface KnownVersion extends FilterVersionChange {
  /** The stored filter is too large to be read. */
  isTooLarge?: boolean;
}

/**
 * The filter that a document of `services` requests, and whether the document exceeds the limits of its application. No
 * document means `off`. MongoDB may still reject a filter that passes here.
 */
export function wantedOf(
  service: { filter?: unknown; enabled?: unknown } | undefined,
  isBeyond = false,
): WantedFilter {
  if (service === undefined || !isEnabled(service)) return { state: 'off' };
  if (isBeyond) return { state: 'beyond' };
  if (filterFault(service.filter) !== undefined) return { state: 'invalid' };
  return { state: 'on', filter: service.filter as Filter };
}

/**
 * The change that an entry needs, with the version to write; undefined if the entry is up to date. A name that was never
 * served before causes no re-stamps. An entry that is not on keeps its last valid filter. If the service returns with
 * another filter, the records that the two filters judge differently are re-stamped, or all records if the difference cannot
 * be determined.
 */
export function reconciled(
  entry: KnownVersion | undefined,
  wanted: WantedFilter,
): FilterVersionChange | undefined {
  const version = (entry?.version ?? 0) + 1;
  if (wanted.state !== 'on') {
    if (wanted.state === (entry?.state ?? 'off')) return undefined;
    const kept = entry?.filter === undefined ? {} : { filter: entry.filter };
    return { ...kept, state: wanted.state, pending: false, version };
  }
  const { state, filter } = wanted;
  if (entry?.isTooLarge === true) return { state, filter, pending: true, version };
  if (entry?.filter === undefined) return { state, filter, pending: false, version };
  if (!isSame(filter, entry.filter)) return { state, filter, previous: entry.filter, pending: true, version };
  return entry.state === 'on' ? undefined : { state, filter, pending: false, version };
}

/** A query for the records that two filters judge differently. */
export function judgedDifferently(one: Filter, other: Filter): mongo.Document {
  return {
    $or: [{ $and: [one, { $nor: [other] }] }, { $and: [other, { $nor: [one] }] }],
  };
}

/** Whether two filters are the same byte for byte. */
function isSame(one: Filter, other: Filter): boolean {
  const [bytes, others] = [one, other].map((filter) => serialize({ filter }));
  return Buffer.compare(bytes!, others!) === 0;
}
