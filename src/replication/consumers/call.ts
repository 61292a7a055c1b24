import type { Kind, Tenant } from '../../record/index.js';

/** Stands for the service where a call is about all of the kind: `max` and `harddeletes`. */
export const EVERY_SERVICE = '';

/** A credential that reads a service of an application; channels count as services, such as `channel:web`. */
export interface ConsumerKey extends Tenant {
  username: string;
  kind: Kind;
  service: string;
}

/** One request of a consumer, once it has ended. */
export interface Call {
  key: ConsumerKey;
  feed: 'max' | 'updates' | 'softdeletes' | 'harddeletes' | 'changes';
  at: Date;
  status: number;
  /** The slug of the problem that it was answered. */
  problem?: string | undefined;
  /** The window of a feed; nothing where the request was not valid. */
  window?: { from?: Date | undefined; to: Date } | undefined;
  /** The first page of a window: without a `lastoffsetid`. */
  isFirst: boolean;
  /** There is a further page. */
  isFull: boolean;
  items: number;
}

/** What is kept of a consumer: a document of `tidemark.consumers`. Times are those of the instances. */
export interface StoredConsumer {
  _id: ConsumerKey;
  firstCall: Date;
  lastCall: Date;
  calls: number;
  pages: number;
  items: number;
  errors: number;
  lastError?: { at: Date; status: number; feed: Call['feed'] };
  /** The last window of `updates` or `changes` that was begun, and how often in a row: with the same bounds each time. */
  begun?: { at: Date; from?: Date; to: Date; times: number };
  /** The last window of `updates` or `changes` that was read to its end. */
  ended?: { at: Date; from?: Date; to: Date };
  /** How many windows of them were begun. */
  harvests: number;
  /** When hard deletes were not kept any more (410 `history-expired`), and when they last were. */
  expired?: Date;
  told?: Date;
  /** When it was last answered 410 `source-restored`, and when it last began a window without `from`. */
  restored?: Date;
  anew?: Date;
}

/** The name of a consumer, unlike that of any other. */
export function consumerName({ organizationid, appid, username, kind, service }: ConsumerKey): string {
  return JSON.stringify([organizationid, appid, username, kind, service]);
}
