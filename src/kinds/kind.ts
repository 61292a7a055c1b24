/** An index that records of one kind have beside those that all kinds have. */
export interface OwnIndex {
  fields: Readonly<Record<string, 1>>;
  /**
   * A field of the service's own that is unique within an application where it is a text. If several records hold one value, as
   * after the index was away, the first keeps it.
   */
  uniqueText?: string;
}

/** Why a line of an import file seems to hold a record of another kind. */
interface OtherKind {
  kind: string;
  why: string;
}

/**
 * What is particular to one kind of record. Feeds, marks, the watcher, the ledger, filters and digests are the same for all
 * kinds; their paths, collections and documentation are made from this description.
 */
export interface KindDescription {
  /** In paths, and the `type` of an item whose record stores none: lower-case letters, at most 30. */
  readonly name: string;
  /** Several records, in texts for people. */
  readonly plural: string;
  /** The collection that holds the records (contract §4). */
  readonly collection: string;
  readonly indexes: readonly OwnIndex[];
  /** Items show `channels` even where a record stores none. */
  readonly alwaysHasChannels: boolean;
  /** Channels select records in feeds of their own; the service remembers which channels were ever used. One kind at most. */
  readonly hasChannelFeeds: boolean;
  /** The e-mail is unique within an application, and `data.passwordhash` is hidden unless the application shows it. */
  readonly isPerson: boolean;
  /** Judges the `data` of a line that does not name its kind. */
  readonly seemsOther?: (data: Record<string, unknown>) => OtherKind | undefined;
}

/** Whether `data` holds something under a name: neither null nor the empty text. */
export function holds(data: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(data, name) && data[name] !== null && data[name] !== '';
}
