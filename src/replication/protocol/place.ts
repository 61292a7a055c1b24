import type { mongo } from 'mongoose';
import { literal } from '../../platform/common/index.js';
import type { Tenant } from '../../record/pure.js';

/**
 * A place in the log, as text that sorts in log order: the cluster time in hex, then the place within the transaction, whose
 * changes all share one cluster time.
 */
export type LogPlace = string;

/** A resume token begins with a type byte. The text after it sorts in log order. */
const START = 2;
/**
 * The cluster time is followed by version, type and number within the transaction. The rest only identifies the
 * document.
 */
const END = 42;
const BEHIND_ALL = '~';

/** The place of the change that a resume token identifies. */
export function placeOf({ _data }: { _data: string }): LogPlace {
  return _data.slice(START, END);
}

/** A token at a place, for {@link placeOf} only: no stream can resume at it. */
export function tokenAt(place: LogPlace): { _data: string } {
  return { _data: ' '.repeat(START) + place };
}

/** The place after all changes of a cluster time. */
export function placeAfter(at: mongo.Timestamp): LogPlace {
  return hexOf(at.getHighBitsUnsigned()) + hexOf(at.getLowBitsUnsigned()) + BEHIND_ALL;
}

/** The place right after `at`, before the next change. */
export function rightAfter(at: LogPlace): LogPlace {
  return at + BEHIND_ALL;
}

/**
 * A condition on stored knowledge: true unless it was learned at a later place. Knowledge without a place is older than any
 * other.
 */
export function upTo(at: LogPlace): mongo.Document {
  return { $not: { $gt: at } };
}

/** Like {@link upTo}, but true only for knowledge of an earlier place. */
export function before(at: LogPlace): mongo.Document {
  return { $not: { $gte: at } };
}

function hexOf(number: number): string {
  return number.toString(16).toUpperCase().padStart(8, '0');
}

/**
 * The applications that one loop of the watcher is responsible for (design §10): all but some applications, or a single
 * one. Each application is in the share of exactly one loop. A document that names no application belongs to the loop
 * with all but some applications.
 */
export type AppShare = { but: readonly Tenant[] } | { only: Tenant };

/** The share of the only loop: all applications. */
export const ALL: AppShare = { but: [] };

/** A document that may name an application. */
interface Named {
  organizationid?: unknown;
  appid?: unknown;
}

/** Whether a share does not contain all applications. */
export function isPartial(share: AppShare): boolean {
  return 'only' in share || share.but.length > 0;
}

/** Whether an application is in a share. */
export function isIn(share: AppShare, named: Named): boolean {
  return 'only' in share ? isOf(named, share.only) : !share.but.some((tenant) => isOf(named, tenant));
}

/** A query for documents of a share, by the fields of the application under `path`, such as `_id.`. */
export function inShare(share: AppShare, path = ''): mongo.Document {
  const isOfTenant = ({ organizationid, appid }: Tenant) => ({
    [`${path}organizationid`]: organizationid,
    [`${path}appid`]: appid,
  });
  if ('only' in share) return isOfTenant(share.only);
  return share.but.length === 0 ? {} : { $nor: share.but.map(isOfTenant) };
}

/** The index for reading the records of one application in `_id` order. */
const OF_TENANT = { organizationid: 1, appid: 1, _id: 1 } as const;
const OF_ALL = { _id: 1 } as const;

/**
 * A query for exactly the documents of a share. Equality alone would also match a record with an array that contains
 * the value, and such a record is in no application. For use in a `$match` stage or as a part of `$and`.
 */
export function documentsOf(share: AppShare): mongo.Document {
  const names = ['$organizationid', '$appid'];
  const texts = ({ organizationid, appid }: Tenant) => literal([organizationid, appid]);
  if ('only' in share) return { ...inShare(share), $expr: { $eq: [names, texts(share.only)] } };
  return share.but.length === 0 ? {} : { $expr: { $not: [{ $in: [names, share.but.map(texts)] }] } };
}

/** The index for reading the records of a share in `_id` order. For one application, it reads no other records. */
export function recordsAlong(share: AppShare): typeof OF_TENANT | typeof OF_ALL {
  return 'only' in share ? OF_TENANT : OF_ALL;
}

function isOf({ organizationid, appid }: Named, tenant: Tenant): boolean {
  return organizationid === tenant.organizationid && appid === tenant.appid;
}
