import type { mongo } from 'mongoose';
import mongoose from 'mongoose';
import { literal } from '../common/index.js';
import { SAFE_BSON } from '../database/plain.js';
import { allows, etagOf, problems } from '../http/plain.js';
import { Refused } from './refused.js';

/** Numbers stay of the type they have, so that the document can be compared with what is stored. */
const AS_STORED = { ...SAFE_BSON, promoteValues: false, promoteLongs: false, promoteBuffers: false } as const;
const MOST_TRIES = 5;

/** A document of the configuration as it is stored, with its entity tag. */
export interface TaggedDocument {
  _id: unknown;
  etag: string;
  /** Its values as the driver reads them. */
  document: mongo.Document;
  /** The same, so that an update can demand that nothing has changed. */
  isUnchanged: mongo.Document;
}

/** The one matching document; undefined without a match. */
export async function readStored(
  collection: mongo.Collection,
  which: mongo.Filter<mongo.Document>,
): Promise<TaggedDocument | undefined> {
  const raw = (await collection.findOne(which, { raw: true })) as unknown as Uint8Array | null;
  if (raw === null) return undefined;
  const { BSON } = mongoose.mongo;
  const exact: { _id?: unknown } = BSON.deserialize(raw, { ...AS_STORED, validation: { utf8: false } });
  return {
    _id: exact._id,
    etag: etagOf(raw),
    document: BSON.deserialize(raw, { ...SAFE_BSON, validation: { utf8: false } }),
    isUnchanged: { _id: exact._id, $expr: { $eq: ['$$ROOT', literal(exact)] } },
  };
}

/**
 * Changes a document as `write` says, if it is the one that `ifMatch` names and nobody changed it meanwhile; where
 * `ifMatch` is not given, what others changed meanwhile is built upon. Throws what `unknown` makes where there is no
 * such document, and 412.
 */
export async function changeStored(
  collection: mongo.Collection,
  which: mongo.Filter<mongo.Document>,
  { ifMatch, unknown }: { ifMatch?: string | undefined; unknown: () => Error },
  write: (isUnchanged: mongo.Document, stored: TaggedDocument) => Promise<number>,
): Promise<TaggedDocument> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const stored = await readStored(collection, which);
    if (stored === undefined) throw unknown();
    if (!allows(ifMatch, stored.etag)) break;
    if ((await write(stored.isUnchanged, stored)) > 0) return stored;
  }
  throw new Refused(problems.stale(ifMatch));
}
