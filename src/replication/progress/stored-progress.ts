import type { mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import type { Tenant } from '../../record/index.js';

/** The field with the entries of the applications that are aside. */
const ASIDE = { $ifNull: ['$aside', []] };
const IS_LIST = { $isArray: [ASIDE] };
const TEXT = '';

/** A cluster time of a document; missing where something else is stored in place of it. */
export function placeAt(value: mongo.Document | string): mongo.Document {
  return { $let: { vars: { value }, in: { $cond: [isPlace('$$value'), '$$value', '$$REMOVE'] } } };
}

/**
 * The fields `since`, `pass`, `watched`, `isAside` and `work` of one application, as the database reads them from the lease: those of
 * {@link progressOf} and {@link workOf}. What a foreign program has stored in place of a cluster time tells nothing.
 */
export function watchedOf({
  organizationid,
  appid,
}: Tenant): Record<'since' | 'pass' | 'watched' | 'isAside' | 'work', mongo.Document> {
  const isOfTenant = {
    $and: [
      { $eq: ['$$this.organizationid', literal(organizationid)] },
      { $eq: ['$$this.appid', literal(appid)] },
    ],
  };
  const own = { $cond: [IS_LIST, { $filter: { input: ASIDE, cond: isOfTenant } }, []] };
  const isAside = { $gt: [{ $size: own }, 0] };
  const placed = { $cond: [isAside, ofOwn('watched'), '$watched'] };
  const work = {
    $let: {
      vars: { one: { $cond: [isAside, { $first: own }, { pace: '$pace' }] } },
      in: { done: '$$one.done', total: '$$one.total', pace: '$$one.pace' },
    },
  };
  const since = { $max: ['$since', placeAt(ofOwn('since'))] };
  return {
    since: { $cond: [isPlace('$since'), since, '$$REMOVE'] },
    pass: { $ifNull: ['$pass', ofOwn('pass')] },
    watched: { $cond: [IS_LIST, placeAt(placed), '$$REMOVE'] },
    isAside,
    work,
  };

  /** A field of the entry; missing where there is none. */
  function ofOwn(field: string): mongo.Document {
    return { $cond: [isAside, { $getField: { field, input: { $first: own } } }, '$$REMOVE'] };
  }
}

/** The field `watched` of the slowest application, the same as {@link progressOfAll}. */
export const SLOWEST: mongo.Document = {
  $cond: [
    IS_LIST,
    placeAt({
      // A text comes before every cluster time.
      $min: {
        $map: {
          input: { $concatArrays: [[{ watched: '$watched' }], ASIDE] },
          in: { $cond: [isPlace('$$this.watched'), '$$this.watched', TEXT] },
        },
      },
    }),
    '$$REMOVE',
  ],
};

function isPlace(value: string): mongo.Document {
  return { $eq: [{ $type: value }, 'timestamp'] };
}
