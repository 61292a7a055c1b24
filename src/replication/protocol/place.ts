import type { mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import type { Tenant } from '../../record/pure.js';

/**
 * A place in the log, as text that sorts as the log does: the cluster time in hex, then the place within the transaction,
 * whose changes all have one cluster time.
 */
export type LogPlace = string;

/** A resume token begins with a type byte; behind it its text sorts as the log does. */
const START = 2;
/** Behind the cluster time come version, type and the number within the transaction, then only names. */
const END = 42;
const BEHIND_ALL = '~';

/** Where the change is that a resume token stands for. */
export function placeOf({ _data }: { _data: string }): LogPlace {
  return _data.slice(START, END);
}

/** Behind all changes of a cluster time. */
export function placeBehind(at: mongo.Timestamp): LogPlace {
  return hexOf(at.getHighBitsUnsigned()) + hexOf(at.getLowBitsUnsigned()) + BEHIND_ALL;
}

/** Behind a place, and before the next one. */
export function rightBehind(at: LogPlace): LogPlace {
  return at + BEHIND_ALL;
}

/** A condition on what is known: true unless that is of a later place. What has no such place is older than anything. */
export function upTo(at: LogPlace): mongo.Document {
  return { $not: { $gt: at } };
}

/** The same, true only where it is of an earlier place. */
export function before(at: LogPlace): mongo.Document {
  return { $not: { $gte: at } };
}

function hexOf(number: number): string {
  return number.toString(16).toUpperCase().padStart(8, '0');
}

/**
 * The applications that one loop of the watcher is responsible for (design §10): all but some, or one. Each application is in the
 * share of exactly one loop. What names no application is in the share of the loop that has all but some.
 */
export type AppShare = { but: readonly Tenant[] } | { only: Tenant };

/** The share of a loop beside which there is no other. */
export const ALL: AppShare = { but: [] };

/** What may name an application. */
interface Named {
  organizationid?: unknown;
  appid?: unknown;
}

/** Whether a share is not all there is. */
export function isPartial(share: AppShare): boolean {
  return 'only' in share || share.but.length > 0;
}

/** Whether an application is in a share. */
export function isIn(share: AppShare, named: Named): boolean {
  return 'only' in share ? isOf(named, share.only) : !share.but.some((tenant) => isOf(named, tenant));
}

/** A query for documents that name applications of a share, under `path`, such as `_id.`. */
export function inShare(share: AppShare, path = ''): mongo.Document {
  const isOfTenant = ({ organizationid, appid }: Tenant) => ({
    [`${path}organizationid`]: organizationid,
    [`${path}appid`]: appid,
  });
  if ('only' in share) return isOfTenant(share.only);
  return share.but.length === 0 ? {} : { $nor: share.but.map(isOfTenant) };
}

/** The index along which the records of one application are found, in the order of their `_id`. */
const OF_TENANT = { organizationid: 1, appid: 1, _id: 1 } as const;
const OF_ALL = { _id: 1 } as const;

/**
 * Exactly the documents of a share: a query by values also takes lists that hold them, and such a record is in no application. A stage of
 * a pipeline, or a part of a `$and`.
 */
export function documentsOf(share: AppShare): mongo.Document {
  const names = ['$organizationid', '$appid'];
  const texts = ({ organizationid, appid }: Tenant) => literal([organizationid, appid]);
  if ('only' in share) return { ...inShare(share), $expr: { $eq: [names, texts(share.only)] } };
  return share.but.length === 0 ? {} : { $expr: { $not: [{ $in: [names, share.but.map(texts)] }] } };
}

/** The index that leads through the records of a share in the order of their `_id`: of one application it reads no others. */
export function recordsAlong(share: AppShare): typeof OF_TENANT | typeof OF_ALL {
  return 'only' in share ? OF_TENANT : OF_ALL;
}

function isOf({ organizationid, appid }: Named, tenant: Tenant): boolean {
  return organizationid === tenant.organizationid && appid === tenant.appid;
}
