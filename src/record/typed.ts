import type { mongo } from 'mongoose';
import { idTextAt } from './id-text.js';

/** The fields that say what a record is to consumers. */
export const IDENTITY = ['organizationid', 'appid', 'id'] as const;

/** Types of `_id` that every driver can read and write back. */
const PLAIN_TYPES = ['objectId', 'string', 'int', 'long', 'double', 'decimal', 'bool'];

/*
 * Other programs may store values that no driver can decode. The watcher must not stumble over them, so the server
 * itself looks at the types, and hands over only what is of the right one.
 */

/** What the service learns from records, such as channels, is at most this long (bytes). */
export const LONGEST_LEARNED = 1024;
/** Of the texts of a list so many are learned. */
const MOST_LEARNED = 1000;

/**
 * A field's text; `null` where there is none, `false` where it is something else, or longer than `longest` (bytes) where
 * that is given.
 */
export function textAt(path: string, longest?: number): mongo.Document {
  const text = longest === undefined ? path : { $cond: [isLongText(path, longest), false, path] };
  const branches = [
    { case: { $eq: [{ $type: path }, 'string'] }, then: text },
    { case: { $eq: [{ $type: path }, 'missing'] }, then: null },
  ];
  return { $switch: { branches, default: false } };
}

/**
 * The projection of what a record, or a part of one, is to consumers: texts, typed as in {@link textAt}. Of an `id` that
 * is a number `isNumber` tells so, and is there only then.
 */
export function identityTextsAt(
  path: string,
): Record<(typeof IDENTITY)[number] | 'isNumber', mongo.Document> {
  return {
    organizationid: textAt(`${path}organizationid`),
    appid: textAt(`${path}appid`),
    id: idTextAt(`${path}id`),
    isNumber: { $cond: [{ $isNumber: `${path}id` }, true, '$$REMOVE'] },
  };
}

/** The same of a whole record. */
export const IDENTITY_TEXTS = identityTextsAt('$');

/** A field's texts: of a list, or the one that it is. Empty where it has none. Long ones, and those behind many, are left out. */
export function textsAt(path: string): mongo.Document {
  return { $slice: [{ $filter: { input: listAt(path), cond: isShortText('$$this') } }, MOST_LEARNED] };
}

/** Whether {@link textsAt} leaves out texts of a field. */
export function hasMoreTexts(path: string): mongo.Document {
  const long = { $filter: { input: listAt(path), cond: isLongText('$$this') } };
  return { $or: [{ $gt: [{ $size: long }, 0] }, { $gt: [{ $size: listAt(path) }, MOST_LEARNED] }] };
}

/** Whether there is a text that is longer (bytes). */
export function isLongText(path: string, longest = LONGEST_LEARNED): mongo.Document {
  return { $cond: [isText(path), { $gt: [{ $strLenBytes: path }, longest] }, false] };
}

/** Whether there is a text that is short enough to be learned. */
export function isShortText(path: string): mongo.Document {
  return { $cond: [isText(path), { $lte: [{ $strLenBytes: path }, LONGEST_LEARNED] }, false] };
}

/** An `_id` as it is where it is of a plain type and not long, else only its type. */
export function idAt(path: string): mongo.Document {
  const isPlain = { $in: [{ $type: path }, PLAIN_TYPES] };
  return { $cond: [isPlain, { $cond: [isLongText(path), typeAt(path), path] }, typeAt(path)] };
}

function typeAt(path: string): mongo.Document {
  return { type: { $type: path } };
}

function isText(path: string): mongo.Document {
  return { $eq: [{ $type: path }, 'string'] };
}

/** A list as it is, a text as a list of one, else nothing. */
function listAt(path: string): mongo.Document {
  const branches = [
    { case: isText(path), then: [path] },
    { case: { $eq: [{ $type: path }, 'array'] }, then: path },
  ];
  return { $switch: { branches, default: [] } };
}
