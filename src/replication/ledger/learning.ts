import type { mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import { COLLECTION_OF, type Kind } from '../../record/index.js';
import type { Place } from './place.js';
import { inStretch, type Stretch } from './stretch.js';

/*
 * Whole stretches of records are learned within the server: the stages that make ledger entries of records, and those
 * that find where the two differ. No text of a record comes through this process.
 */

const IDENTITY = ['organizationid', 'appid', 'id'] as const;

/** Records that consumers can be told of (contract §4); the operator `$type` of queries would also take lists. */
const WHOLE = { $expr: { $and: IDENTITY.map((field) => ({ $eq: [{ $type: `$${field}` }, 'string'] })) } };

const identity = Object.fromEntries(IDENTITY.map((field) => [field, 1]));
const ledgerIdentity = ['organizationid', 'appid', 'kind', 'id'];

/** Makes an entry of each whole record of the stretch. The first one that the ledger has already ends it with E11000. */
export function insertLives(kind: Kind, stretch: Stretch, at: Place): mongo.Document[] {
  return [
    { $match: { _id: inStretch(stretch) } },
    { $match: WHOLE },
    { $project: { _id: 0, ...identity, owner: '$_id', ...aliveAs(kind, at) } },
    into('fail'),
  ];
}

/** Makes or changes the entry of each whole record of the stretch that owns none under its identity. */
export function mergeNews(kind: Kind, stretch: Stretch, at: Place): mongo.Document[] {
  return [
    ...recordsAs('record', stretch),
    { $unionWith: { coll: 'ledger', pipeline: entriesAs('entry', kind, stretch) } },
    { $group: { _id: SAME, entry: { $max: '$entry' } } },
    { $match: { entry: null } },
    { $replaceWith: '$_id' },
    { $set: aliveAs(kind, at) },
    into(laterLife(at)),
  ];
}

/** The living entries of a stretch of owners whose record does not stand under their identity. */
export function gone(kind: Kind, stretch: Stretch): mongo.Document[] {
  return [
    ...entriesAs('entry', kind, stretch),
    { $unionWith: { coll: COLLECTION_OF[kind], pipeline: recordsAs('record', stretch) } },
    { $group: { _id: SAME, entry: { $max: '$entry' }, record: { $max: '$record' } } },
    { $match: { record: null } },
    { $replaceWith: { $mergeObjects: ['$_id', { kind: literal(kind) }] } },
  ];
}

/** What a record is to consumers, with the record itself: equal on both sides where the ledger is right. */
const SAME = Object.fromEntries([...IDENTITY, 'owner'].map((field) => [field, `$${field}`]));

function recordsAs(name: string, stretch: Stretch): mongo.Document[] {
  return [
    { $match: { _id: inStretch(stretch) } },
    { $match: WHOLE },
    { $project: { _id: 0, ...identity, owner: '$_id', [name]: literal(1) } },
  ];
}

function entriesAs(name: string, kind: Kind, stretch: Stretch): mongo.Document[] {
  return [
    { $match: { kind, alive: true, owner: inStretch(stretch) } },
    { $project: { _id: 0, ...identity, owner: 1, [name]: literal(1) } },
  ];
}

function aliveAs(kind: Kind, at: Place): mongo.Document {
  return { kind: literal(kind), alive: literal(true), learned: literal(at) };
}

function into(whenMatched: string | mongo.Document[]): mongo.Document {
  return { $merge: { into: 'ledger', on: ledgerIdentity, whenMatched, whenNotMatched: 'insert' } };
}

/**
 * What becomes of an entry that is there already: another owner if it lives, unless the ledger knows something newer.
 * A dead one stays dead, since it comes back only together with a new stamp of its record (design §3, rule 4).
 */
function laterLife(at: Place): mongo.Document[] {
  const isNewer = { $and: [{ $eq: [{ $type: '$learned' }, 'string'] }, { $gt: ['$learned', literal(at)] }] };
  const applies = { $and: [{ $eq: ['$alive', true] }, { $not: [isNewer] }] };
  const instead = (field: string, value: unknown) => ({ $cond: [applies, value, `$${field}`] });
  return [{ $set: { owner: instead('owner', '$$new.owner'), learned: instead('learned', literal(at)) } }];
}
