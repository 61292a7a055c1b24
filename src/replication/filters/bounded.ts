import type { mongo } from 'mongoose';
import { FILTER_BYTES } from '../../application/plain.js';

/*
 * What other programs stored may be of any type and size. The server hands over what can be of use, and nothing else, so
 * that one document costs neither the others nor the next look at them.
 */

const LONGEST_NAME = 64;

/** A stored filter, if its size is one that contract §4 allows. */
export function filterAt(path: string): mongo.Document {
  return { $cond: [isReadable(path), path, '$$REMOVE'] };
}

/** Whether there is something in place of a filter that {@link filterAt} leaves out. */
export function isTooLarge(path: string): mongo.Document {
  return { $and: [{ $ne: [{ $type: path }, 'missing'] }, { $not: [isReadable(path)] }] };
}

/** A stored name, if it is a text that is short enough to be one. */
export function nameAt(path: string): mongo.Document {
  const text = { $cond: [{ $eq: [{ $type: path }, 'string'] }, path, ''] };
  const isShort = { $lte: [{ $strLenBytes: text }, LONGEST_NAME] };
  return { $cond: [isShort, text, ''] };
}

/** The server may look at both conditions whatever the first one says, and knows the size of documents only. */
function isReadable(path: string): mongo.Document {
  const isDocument = { $eq: [{ $type: path }, 'object'] };
  return { $and: [isDocument, { $lt: [{ $bsonSize: { $cond: [isDocument, path, null] } }, FILTER_BYTES] }] };
}
