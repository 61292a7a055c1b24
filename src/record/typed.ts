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

/** A field's text; `null` where there is none, `false` where it is something else. */
export function textAt(path: string): mongo.Document {
  const branches = [
    { case: { $eq: [{ $type: path }, 'string'] }, then: path },
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

/** A field's texts: of a list, or the one that it is. Empty where it has none. */
export function textsAt(path: string): mongo.Document {
  const texts = { $filter: { input: path, cond: { $eq: [{ $type: '$$this' }, 'string'] } } };
  const branches = [
    { case: { $eq: [{ $type: path }, 'string'] }, then: [path] },
    { case: { $eq: [{ $type: path }, 'array'] }, then: texts },
  ];
  return { $switch: { branches, default: [] } };
}

/** An `_id` as it is where it is of a plain type, else only its type. */
export function idAt(path: string): mongo.Document {
  return { $cond: [{ $in: [{ $type: path }, PLAIN_TYPES] }, path, { type: { $type: path } }] };
}
