/** An item that the copy shall hold: an update item with its `op` (contract §1). */
export interface ToldUpsert {
  op: 'upsert';
  id: string;
  lastupdated: string;
  type: string;
  createDate: string;
  /** Absent if the service leaves it out; a hash if it hashes it (contract §7), as for `channels`. */
  createdBy?: string | undefined;
  data: Record<string, unknown>;
  channels?: unknown[] | string | undefined;
}

/** An item that the copy shall not hold any more. */
export interface ToldDelete {
  op: 'delete';
  id: string;
  lastupdated: string;
  reason?: 'left' | 'gone' | undefined;
}

export type ToldChange = ToldUpsert | ToldDelete;

/** One page of `changes`. The last page of its window has no `next`. */
export interface ToldPage {
  result: ToldChange[];
  to: string;
  next?: string | undefined;
  cursor: string;
}

/** Where reading begins: behind a cursor, behind a time, or from the beginning, with the deletes or without them. */
export interface ReadFrom {
  cursor?: string;
  /** Times instead of a cursor: what is stamped behind `from`, and up to `to`; without `to` up to now. */
  from?: string;
  to?: string;
  deletes?: 'skip';
  limit?: number;
  signal?: AbortSignal;
}

/** What the service answers of the records that match, up to `to`. */
export interface ToldDigest {
  count: number;
  buckets: { count: number; digest: string }[];
  records?: { id: string; lastupdated: string }[] | undefined;
}

export interface AskedDigest {
  to: string;
  /** Whose records shall be told, 64 at most. */
  bucket?: number[];
  signal?: AbortSignal;
}

/** The records stamped behind `from`, up to `to`. */
export interface StampedWithin {
  from: string;
  to: string;
  signal?: AbortSignal;
}

/** One feed of a service, as a harvest needs it. */
export interface HarvestSource {
  /** Of what a copy is made, such as `acme/shop/product/bikes`. */
  readonly feed: string;
  /** The pages of one window of `changes`, in order. */
  pages(from: ReadFrom): AsyncIterable<ToldPage>;
  digest(asked: AskedDigest): Promise<ToldDigest>;
  updates(within: StampedWithin): AsyncIterable<Omit<ToldUpsert, 'op'>>;
  /** Tells each time the mark may have moved; ends or throws where the connection does. */
  events(signal: AbortSignal): AsyncIterable<unknown>;
  /** Whether an error says that the history of the cursor is no longer kept (410). */
  isHistoryExpired(error: unknown): boolean;
  /** Whether an error says that the cursor lies ahead of the database: that was restored from an earlier copy (410). */
  isSourceRestored(error: unknown): boolean;
  /** Whether what failed may succeed later without anybody doing anything. */
  isPassing(error: unknown): boolean;
}
