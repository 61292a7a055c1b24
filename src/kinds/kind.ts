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
  /** Several records, in texts for people. */
  readonly plural: string;
  /** The collection that holds the records (contract §4). */
  readonly collection: string;
  /** Items show `channels` even where a record stores none. */
  readonly alwaysHasChannels: boolean;
  /**
   * Channels select records in feeds of their own; an index finds out for 404 `unknown-channel` whether any record has a channel.
   * Exactly one kind.
   */
  readonly hasChannelFeeds: boolean;
  /**
   * The e-mail is unique within an application, and `data.passwordhash` is hidden unless the application shows it. Exactly one
   * kind.
   */
  readonly isPerson: boolean;
  /** Judges the `data` of a line that does not name its kind. */
  readonly seemsOther?: (data: Record<string, unknown>) => OtherKind | undefined;
}

/** Whether `data` holds something under a name: neither null nor the empty text. */
export function holds(data: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(data, name) && data[name] !== null && data[name] !== '';
}
