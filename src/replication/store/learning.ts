import type { mongo } from 'mongoose';
import { LEDGER } from './collections.schema.js';
import { literal } from '../../platform/common/index.js';
import { collectionOf, type Kind } from '../../kinds/index.js';
import { IDENTITY, idTextAt, LONGEST_NUMBER_TEXT, BY_RECORD_ID, stagesOver } from '../../record/index.js';
import { type AppShare, documentsOf, inShare, type LogPlace } from '../protocol/index.js';
import { inRange, type IdRange } from './walk.js';
import { alongIndexIfAny } from '../../platform/database/plain.js';

/*
 * Aggregation stages that create ledger entries from a range of records, and stages that find where ledger and records
 * differ. They run within the server: no text of a record passes through this process. A record with a numeric `id` is not
 * learned here, since several may claim one identity and only one can have it.
 */

/** Records whose identity consists of strings (contract §4). The query operator `$type` would also match arrays. */
const WHOLE = { $expr: { $and: IDENTITY.map(isText) } };
/** Like {@link WHOLE}, and also records with a numeric `id`, which may be known under its text. */
const MAYBE_KNOWN = {
  $expr: {
    $and: [isText('organizationid'), isText('appid'), { $or: [isText('id'), { $isNumber: '$id' }] }],
  },
};

/** Expressions, because a projection by name may return the second of two fields with the same name. */
const identity = Object.fromEntries(IDENTITY.map((field) => [field, `$${field}`]));
const identityOfNumbers = { ...identity, id: { $cond: [{ $isNumber: '$id' }, idTextAt('$id'), '$id'] } };
const ledgerIdentity = ['organizationid', 'appid', 'kind', 'id'];

/** A range of the records, or of the owners, of a share. */
export interface Piece {
  range: IdRange;
  share: AppShare;
}

/** Inserts an entry for each complete record in the range. Fails with E11000 at the first entry that already exists. */
export function insertLives(kind: Kind, piece: Piece, at: LogPlace): mongo.Document[] {
  return [...wholeRecords(piece), { $set: aliveAs(kind, at) }, into('fail')];
}

/**
 * Inserts or updates the entry of each complete record in the range that does not own its identity; in the share of one
 * application, of each complete record.
 */
export function mergeNews(kind: Kind, piece: Piece, at: LogPlace): mongo.Document[] {
  const { share } = piece;
  const news = 'only' in share ? wholeRecords(piece) : withoutEntry(kind, piece);
  return [...news, { $set: aliveAs(kind, at) }, into(laterLife(at))];
}

/**
 * The complete records in the range that own no entry and whose `id` may be the text of a number; in the share of one
 * application, those whose identity a record with a numeric `id` owns.
 */
export function unknownBesideNumbers(kind: Kind, piece: Piece): mongo.Document[] {
  const isShort = { $match: { $expr: { $lte: [{ $strLenBytes: '$id' }, LONGEST_NUMBER_TEXT] } } };
  const { share } = piece;
  if (!('only' in share)) return [...withoutEntry(kind, piece), isShort];
  const number = { ...inShare(share), kind, isNumber: true, $expr: { $eq: ['$id', '$$id'] } };
  return [
    ...wholeRecords(piece),
    isShort,
    { $lookup: { from: LEDGER, let: { id: '$id' }, pipeline: [{ $match: number }], as: 'number' } },
    { $match: { 'number.0': { $exists: true } } },
    { $unset: 'number' },
  ];
}

/** The identities of the complete records in a range, with the `_id` of each. */
function wholeRecords({ range, share }: Piece): mongo.Document[] {
  return [
    { $match: { ...documentsOf(share), _id: inRange(range) } },
    { $match: WHOLE },
    { $project: { _id: 0, ...identity, owner: '$_id' } },
  ];
}

/** The identities of the complete records in the range that own no entry, with the `_id` of each. */
function withoutEntry(kind: Kind, piece: Piece): mongo.Document[] {
  const entries = entriesAs('entry', kind, piece, { isNumber: { $ne: true } });
  return [
    ...recordsAs('record', piece, WHOLE, identity),
    { $unionWith: { coll: LEDGER, pipeline: entries } },
    { $group: { _id: SAME, entry: { $max: '$entry' } } },
    { $match: { entry: null } },
    { $replaceWith: '$_id' },
  ];
}

/** The living entries, in a range of owners, whose record is gone or has another identity. */
export function gone(kind: Kind, piece: Piece): mongo.Document[] {
  const records = recordsAs('record', piece, MAYBE_KNOWN, identityOfNumbers);
  return [
    ...entriesAs('entry', kind, piece),
    { $unionWith: { coll: collectionOf(kind), pipeline: stagesOver(kind, records) } },
    { $group: { _id: SAME, entry: { $max: '$entry' }, record: { $max: '$record' } } },
    { $match: { record: null } },
    { $replaceWith: { $mergeObjects: ['$_id', { kind: literal(kind) }] } },
  ];
}

/** Like {@link gone}, for some living entries of one kind. Each record is looked up. */
export function goneAmong(kind: Kind, entries: mongo.Document): mongo.Document[] {
  const record = [{ $match: MAYBE_KNOWN }, { $project: { _id: 0, ...identityOfNumbers } }];
  const fieldsOf = (document: string) => IDENTITY.map((field) => `${document}${field}`);
  const present = { $let: { vars: { one: { $first: '$record' } }, in: fieldsOf('$$one.') } };
  return [
    { $match: entries },
    { $project: { _id: 0, kind: 1, ...identity, owner: 1 } },
    {
      $lookup: {
        from: collectionOf(kind),
        localField: 'owner',
        foreignField: '_id',
        pipeline: stagesOver(kind, record),
        as: 'record',
      },
    },
    { $match: { $expr: { $ne: [present, fieldsOf('$')] } } },
    { $unset: 'record' },
  ];
}

/** An identity with its record. Ledger and records agree on it if the ledger is correct. */
const SAME = Object.fromEntries([...IDENTITY, 'owner'].map((field) => [field, `$${field}`]));

function recordsAs(
  name: string,
  { range, share }: Piece,
  which: mongo.Document,
  fields: mongo.Document,
): mongo.Document[] {
  return [
    { $match: { ...documentsOf(share), _id: inRange(range) } },
    { $match: which },
    { $project: { _id: 0, ...fields, owner: '$_id', [name]: literal(1) } },
  ];
}

function entriesAs(
  name: string,
  kind: Kind,
  { range, share }: Piece,
  which: mongo.Document = {},
): mongo.Document[] {
  return [
    { $match: { ...inShare(share), kind, alive: true, owner: inRange(range), ...which } },
    { $project: { _id: 0, ...identity, owner: 1, [name]: literal(1) } },
  ];
}

function aliveAs(kind: Kind, at: LogPlace): mongo.Document {
  return { kind: literal(kind), alive: literal(true), learned: literal(at) };
}

function into(whenMatched: string | mongo.Document[]): mongo.Document {
  return { $merge: { into: LEDGER, on: ledgerIdentity, whenMatched, whenNotMatched: 'insert' } };
}

/**
 * Updates an existing entry. A living entry gets the new owner, unless the ledger has newer knowledge. A dead entry
 * stays dead, since it is revived only together with a new stamp of its record (design §3, rule 4). An entry that is
 * owned by another record, with a numeric `id`, also stays: when that record's life ends, its tombstone has to store
 * that owner.
 */
function laterLife(at: LogPlace): mongo.Document[] {
  const isNewer = { $and: [{ $eq: [{ $type: '$learned' }, 'string'] }, { $gt: ['$learned', literal(at)] }] };
  const isOther = { $and: [{ $eq: ['$isNumber', true] }, { $ne: ['$owner', '$$new.owner'] }] };
  const applies = { $and: [{ $eq: ['$alive', true] }, { $not: [isNewer] }, { $not: [isOther] }] };
  const instead = (field: string, value: unknown) => ({ $cond: [applies, value, `$${field}`] });
  return [
    {
      $set: {
        owner: instead('owner', '$$new.owner'),
        isNumber: instead('isNumber', '$$REMOVE'),
        learned: instead('learned', literal(at)),
      },
    },
  ];
}

function isText(field: string): mongo.Document {
  return { $eq: [{ $type: `$${field}` }, 'string'] };
}

/**
 * In characters. With two conditions on one field of an index, MongoDB rejects (10334) a text of half the maximum size
 * of a document. The second condition is `$type`, which a partial index requires unless a hint names the index.
 */
const LONGEST_IN_A_LIST = 2_000_000;

/** The records of an application with these ids. Ids of ordinary length share one query; each longer id has its own. */
export async function recordsUnder<T extends mongo.Document>(
  records: mongo.Collection,
  { organizationid, appid, ids }: { organizationid: string; appid: string; ids: string[] },
  options: mongo.FindOptions & { where?: mongo.Document },
): Promise<T[]> {
  const { where, ...rest } = options;
  const scope = { organizationid, appid, ...where };
  const common = ids.filter((id) => id.length <= LONGEST_IN_A_LIST);
  const found = await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
    records
      .find<T>({ ...scope, id: { $in: common, $type: 'string' as const } }, { ...rest, ...along })
      .toArray(),
  );
  for (const id of ids.filter((one) => one.length > LONGEST_IN_A_LIST))
    found.push(
      ...(await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
        records.find<T>({ ...scope, id }, { ...rest, ...along }).toArray(),
      )),
    );
  return found;
}
