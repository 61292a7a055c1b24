import type { mongo } from 'mongoose';
import { HAS_GOOD_STAMP, type Kind, textAt, textsAt } from '../../../record/index.js';

const isText = (path: string) => ({ $eq: [{ $type: path }, 'string'] });

/** A text that is nothing but ASCII has as many characters as bytes. */
const IS_ASCII = { $eq: [{ $strLenBytes: '$data.email' }, { $strLenCP: '$data.email' }] };
/** What JavaScript trims and lower-cases in ASCII; of other letters the server knows less. */
const LOWERED = { $toLower: { $trim: { input: '$data.email', chars: ' \t\n\v\f\r' } } };
const KEY = { $let: { vars: { key: LOWERED }, in: { $cond: [{ $eq: ['$$key', ''] }, null, '$$key'] } } };

/** Whether the e-mail of a member and its `emailkey` may not fit: always true where they do not. */
const MAY_LACK_KEY = {
  $cond: [
    isText('$data.email'),
    { $or: [{ $not: [IS_ASCII] }, { $ne: [textAt('$emailkey'), KEY] }] },
    { $ne: [{ $type: '$emailkey' }, 'missing'] },
  ],
};

const IS_WELL = { $and: [isText('$organizationid'), isText('$appid'), isText('$id'), HAS_GOOD_STAMP] };

/** The condition on records that somebody has to look after, one by one; all others are learned as they are. */
export const NEEDS_CARE: Record<Kind, mongo.Document> = {
  member: { $expr: { $or: [{ $not: [IS_WELL] }, MAY_LACK_KEY] } },
  product: { $expr: { $not: [IS_WELL] } },
};

/**
 * Which channels the products of an application carry, each once, as `{organizationid, appid, channel}`: by expressions, since a
 * projection by names may end at the second of two fields with the same name.
 */
export const CARRIED: mongo.Document[] = [
  { $match: { $expr: { $and: [isText('$organizationid'), isText('$appid')] } } },
  {
    $project: {
      _id: 0,
      organizationid: '$organizationid',
      appid: '$appid',
      channel: textsAt('$channels'),
    },
  },
  { $unwind: '$channel' },
  { $group: { _id: { organizationid: '$organizationid', appid: '$appid', channel: '$channel' } } },
  { $replaceWith: '$_id' },
];
