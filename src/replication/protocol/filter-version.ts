import { serialize } from 'bson';
import type { mongo } from 'mongoose';
import { type Filter, filterFault, isEnabled, type ServiceKey } from '../../application/pure.js';
import type { Work } from './estimates.js';

/**
 * The filter in force of a service (design §3, Filters take effect in one place): one document for each application,
 * kind and name ever served, never removed. Feeds read these, not `services`.
 */
export interface FilterVersion extends ServiceKey {
  _id: mongo.ObjectId;
  state: FilterState;
  /** The last valid filter; absent where there was none yet. */
  filter?: Filter;
  /**
   * The filter before, while records that the two judge differently are stamped anew; absent while all of them are, since
   * one of the two cannot be read.
   */
  previous?: Filter;
  /** Whether they are still to be stamped. */
  pending: boolean;
  /** Since when, by the database's clock; absent where they are stamped. */
  pendingSince?: Date;
  /** Absent before it is told, and where they are stamped. */
  stamping?: EditProgress;
  /** Grows with every change; whoever writes names the version it has read. */
  version: number;
}

/** The stamping for an edit: how many records of the application and kind are looked through, of about how many. */
export interface EditProgress extends Partial<Work> {
  /** Attempts that failed. */
  failures?: number;
}

/**
 * On; off: removed or disabled; invalid: the filter is none, MongoDB refuses it, or it cannot be brought into force; beyond: its
 * application has more services than are allowed.
 */
export type FilterState = 'on' | 'off' | 'invalid' | 'beyond';

/** What `services` asks for. */
export type WantedFilter = { state: 'on'; filter: Filter } | { state: 'off' | 'invalid' | 'beyond' };

/** What an entry becomes; `previous` only where records have to be stamped. */
export type FilterVersionChange = Pick<
  FilterVersion,
  'state' | 'filter' | 'previous' | 'pending' | 'version'
>;

/** What is known of an entry. */
export interface KnownVersion extends FilterVersionChange {
  /** There is a filter, but one that is too large to be read. */
  isTooLarge?: boolean;
}

/**
 * What a document of `services` asks for, and whether it is beyond the limits of its application; nothing is off. MongoDB may
 * refuse what passes here.
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
 * What an entry has to become, with the version to write it by; nothing where all is as it should be. A name never
 * served before moves no record. One that is not on keeps its last valid filter, so that on its return with
 * another the difference is stamped; everything, where nobody can tell the difference.
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

/** The records that two filters judge differently. */
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
