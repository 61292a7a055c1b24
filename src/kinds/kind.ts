/** Why a line of an import file appears to be a record of another kind. */
interface OtherKind {
  kind: string;
  why: string;
}

/** The names under which a collection stores the fields that the service needs (contract §8). */
interface StoredNames {
  readonly id: string;
  readonly lastupdated: string;
}

/**
 * What is particular to one kind of record. Feeds, marks, the watcher, the ledger, filters and digests are the same for all
 * kinds; their paths, collections and documentation are made from this description.
 */
export interface KindDescription {
  /** The plural noun for the records, for messages. */
  readonly plural: string;
  /** The collection that holds the records (contract §4). */
  readonly collection: string;
  /** Items show `channels` even where a record stores none. */
  readonly alwaysHasChannels: boolean;
  /**
   * The kind has feeds that select records by channel. For 404 `unknown-channel`, an index shows whether any record has
   * a given channel. True for exactly one kind.
   */
  readonly hasChannelFeeds: boolean;
  /**
   * The e-mail is unique within an application, and `data.passwordhash` is hidden unless the application shows it. True for
   * exactly one kind.
   */
  readonly isPerson: boolean;
  /** Checks whether the `data` of an import line without a `type` looks like that of another kind. */
  readonly seemsOther?: (data: Record<string, unknown>) => OtherKind | undefined;
  /**
   * The `_id` of its document and a hash of its fields, apart from `plural`; absent for a built-in kind. If either
   * changes, the document defines a different kind, even if the name is the same.
   */
  readonly document?: string;
  /** How the collection stores its records; absent if it stores them as contract §4 says. */
  readonly stored?: StoredShape;
}

/** How a collection that another program designed stores its records (contract §8). */
export interface StoredShape {
  readonly names: StoredNames;
  /** The application of all records, if the collection has no fields for it. */
  readonly tenant?: { readonly organizationid: string; readonly appid: string };
  /** Whether the records have a field `data`; otherwise all other fields are the data. */
  readonly hasData: boolean;
  /** Whether the field `channels` holds the channels of a record; otherwise it is a field like others. */
  readonly hasChannels: boolean;
}

/** Whether `data` holds something under a name: neither null nor the empty text. */
export function holds(data: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(data, name) && data[name] !== null && data[name] !== '';
}
