import { serialize } from 'bson';
import type { mongo } from 'mongoose';
import {
  concernedBy,
  DEFAULT_SERVICE,
  type Filter,
  filterFault,
  hiddenFilterFault,
  isEnabled,
  type ServiceKey,
  type ShownFields,
  shownFieldsFault,
  shownFieldsOf,
  type StoredFields,
} from '../../application/pure.js';
import type { Work } from './estimates.js';

/** The fields that a service shows, with the key of its application if some are hashed. */
export interface KeyedFields extends ShownFields {
  key?: mongo.Binary;
}

/**
 * The filter and the fields of a service that are in force (design §3, Filters take effect in one place). There is one document for each
 * application, kind and name ever served, and none is ever removed. Feeds read these documents, not `services`.
 */
export interface FilterVersion extends ServiceKey {
  _id: mongo.ObjectId;
  state: FilterState;
  /** The last valid filter; absent if there was none yet. */
  filter?: Filter;
  /**
   * The previous filter, while the records that an edit concerns are being re-stamped; the same as `filter` if only the
   * fields were edited. Absent while all records are being re-stamped, because a stored filter or stored fields could
   * not be read.
   */
  previous?: Filter;
  /** The last valid fields; absent if items are shown whole. */
  fields?: KeyedFields;
  /** The previous fields, while the records with a field that is shown differently are being re-stamped. */
  previousFields?: KeyedFields;
  /** Whether records remain to be re-stamped. */
  pending: boolean;
  /** When `pending` was set, by the database's clock; absent if `pending` is false. */
  pendingSince?: Date;
  /** Absent before the first progress report, and if `pending` is false. */
  stamping?: EditProgress;
  /**
   * Grows with every change of the state, the filter or the fields, but not with the progress or the end of
   * re-stamping. A write of such a change is conditional on the version that the writer has read.
   */
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
type FilterState = 'on' | 'off' | 'invalid' | 'beyond';

/** The filter and the fields that `services` requests. */
export type WantedFilter =
  | { state: 'on'; filter: Filter; fields?: KeyedFields | undefined }
  | { state: 'off' | 'invalid' | 'beyond' };

/** The new values of an entry; `previous` only if records have to be re-stamped. */
export type FilterVersionChange = Pick<
  FilterVersion,
  'state' | 'filter' | 'previous' | 'pending' | 'version'
> & {
  /** Undefined if items are shown whole; absent if the stored fields are kept. */
  fields?: KeyedFields | undefined;
  previousFields?: KeyedFields | undefined;
};

/** The known part of an entry. */
export interface KnownVersion extends FilterVersionChange {
  /** The stored filter or the stored fields cannot be read. */
  isUnreadable?: boolean;
}

/**
 * What is known of `default` without an entry: it has always shown everything. It gets an entry as soon as it has a
 * document in `services`, so if it has a document but no entry, the document has not been read yet.
 */
const NEVER_CHOSEN: KnownVersion = { state: 'off', filter: {}, pending: false, version: 0 };

/** What is known of a service; undefined if it was never served. */
export function knownOf<E extends KnownVersion>(
  { name }: Pick<ServiceKey, 'name'>,
  entry: E | undefined,
): KnownVersion | undefined {
  return name === DEFAULT_SERVICE ? { ...NEVER_CHOSEN, ...entry, filter: {} } : entry;
}

/** A document of `services`, as far as it chooses what is served. */
type Choosing = StoredFields & { filter?: unknown; enabled?: unknown };

/** Facts about a service that its document does not contain. */
interface Beside {
  /** The document exceeds the limits of its application. */
  isBeyond?: boolean;
  /** The key of the application's hashes, if it can be read. */
  hashKey?: mongo.Binary | undefined;
  /** The service is `default`. */
  isDefault?: boolean;
}

/**
 * What a document of `services` requests. A service without a document is `off`. Only `default` shows everything
 * without a document, or with one that has `enabled: false`; if its `enabled` cannot be read, it is `invalid`. MongoDB
 * may still reject a filter that passes here.
 */
export function wantedOf(
  service: Choosing | undefined,
  { isBeyond = false, hashKey, isDefault = false }: Beside = {},
): WantedFilter {
  if (isDefault && (service === undefined || service.enabled === false))
    return { state: 'on', filter: {}, fields: undefined };
  if (service === undefined || !isEnabled(service)) return { state: isDefault ? 'invalid' : 'off' };
  if (isBeyond) return { state: 'beyond' };
  const filter = isDefault ? {} : service.filter;
  if (filterFault(filter) !== undefined || shownFieldsFault(service) !== undefined)
    return { state: 'invalid' };
  const fields = shownFieldsOf(service);
  if (fields === undefined) return { state: 'on', filter: filter as Filter, fields };
  const revealsHidden = hiddenFilterFault(filter as Filter, fields) !== undefined;
  if (revealsHidden && service.allowHiddenFilter !== true) return { state: 'invalid' };
  if (fields.hash !== undefined && hashKey === undefined) return { state: 'invalid' };
  return {
    state: 'on',
    filter: filter as Filter,
    fields: { ...fields, ...(fields.hash && { key: hashKey! }) },
  };
}

/**
 * The change that an entry needs, with the version to write; undefined if the entry is up to date. A name that was
 * never served before causes no re-stamps. An entry that is not on keeps its last valid filter and fields. If the
 * service is turned on again later, with another filter or other fields, the records that are judged or shown
 * differently are re-stamped, or all records if the difference cannot be determined.
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
  if (entry?.isUnreadable === true) return { ...wanted, pending: true, version };
  if (entry?.filter === undefined) return { ...wanted, pending: false, version };
  if (differingIn({ ...wanted, previous: entry.filter, previousFields: entry.fields }) !== undefined)
    return { ...wanted, previous: entry.filter, previousFields: entry.fields, pending: true, version };
  const isUpToDate = entry.state === 'on' && areEqual(wanted.fields, entry.fields);
  return isUpToDate ? undefined : { ...wanted, pending: false, version };
}

/**
 * A query for the records that an edit concerns: those that the two filters judge differently, and those that match and have a
 * field that is shown differently. Undefined if it concerns none.
 */
export function differingIn(
  edit: Required<Pick<FilterVersion, 'filter' | 'previous'>> &
    Pick<FilterVersionChange, 'fields' | 'previousFields'>,
): mongo.Document | undefined {
  const { filter, previous, fields, previousFields } = edit;
  const isRekeyed = !areEqual(fields?.key, previousFields?.key);
  const concerned = concernedBy({ before: previousFields, after: fields, isRekeyed });
  const parts = [
    ...(areEqual(filter, previous) ? [] : judgedDifferently(filter, previous)),
    ...(concerned === undefined ? [] : [{ $and: [filter, concerned] }]),
  ];
  return parts.length === 0 ? undefined : { $or: parts };
}

function judgedDifferently(one: Filter, other: Filter): mongo.Document[] {
  return [{ $and: [one, { $nor: [other] }] }, { $and: [other, { $nor: [one] }] }];
}

/** Whether two values are the same in MongoDB, including the order of their fields. */
function areEqual(one: unknown, other: unknown): boolean {
  return one === other || bytesOf(one).equals(bytesOf(other));
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(serialize({ value }));
}
