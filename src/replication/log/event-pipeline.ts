import type { mongo } from 'mongoose';
import { SERVICES } from '../../application/index.js';
import {
  COLLECTION_OF,
  EARLIEST,
  idAt,
  IDENTITY,
  identityTextsAt,
  isShortText,
  KINDS,
  textAt,
  textsAt,
} from '../../record/index.js';
import { LEDGER } from '../ledger/index.js';
import { MARKS } from '../mark/index.js';
import { LEASES } from '../progress/index.js';

export const KIND_OF = new Map(KINDS.map((kind) => [COLLECTION_OF[kind], kind]));
const RECORDS = [...KIND_OF.keys()];
export const LOST = ['drop', 'rename', 'dropDatabase', 'invalidate'];
/** An event holds the `_id` several times, in hex too (bytes of BSON). */
const LARGEST_KEY = 1_000_000;
const LATEST = new Date('9999-12-31T23:59:59.999Z');

/** A date that JavaScript can hold; `null` where there is nothing, `false` where there is something else. */
const stampAt = (path: string) => ({
  $switch: {
    branches: [
      { case: { $eq: [{ $type: path }, 'missing'] }, then: null },
      {
        case: {
          $and: [{ $eq: [{ $type: path }, 'date'] }, { $gte: [path, EARLIEST] }, { $lte: [path, LATEST] }],
        },
        then: path,
      },
    ],
    default: false,
  },
});

/** Single places of the list, such as `channels.2`; a list that was set as a whole stands under `channels`. */
const CHANNELS_PLACED = {
  $filter: {
    input: { $objectToArray: '$updateDescription.updatedFields' },
    cond: { $and: [{ $eq: [{ $indexOfBytes: ['$$this.k', 'channels.'] }, 0] }, isShortText('$$this.v')] },
  },
};

/** Whether an update changed this field and nothing else. */
const isOnly = (field: string) => {
  const changed = { $objectToArray: { $ifNull: ['$updateDescription.updatedFields', {}] } };
  const names = { $map: { input: changed, in: '$$this.k' } };
  const removed = { $ifNull: ['$updateDescription.removedFields', []] };
  const truncated = { $ifNull: ['$updateDescription.truncatedArrays', []] };
  return {
    $and: [
      { $eq: ['$operationType', 'update'] },
      { $eq: [{ $size: truncated }, 0] },
      { $setIsSubset: [{ $concatArrays: [names, removed] }, [field]] },
    ],
  };
};

const isOf = (...names: string[]) => ({ $in: ['$ns.coll', names] });
const isSet = (path: string) => ({ $ne: [{ $type: path }, 'missing'] });

/**
 * Whether an event concerns anybody here. A value of its own, since MongoDB looks for the conditions of a plain `$match` in
 * each entry of the log, those of other databases too, which then cost four times as much.
 */
const concerns = (memory: string[]) => ({
  $or: [
    { $and: [isOf(...RECORDS), { $lt: [{ $bsonSize: '$documentKey' }, LARGEST_KEY] }] },
    isOf(MARKS, SERVICES),
    { $and: [isOf(LEDGER), { $eq: ['$fullDocument.alive', false] }] },
    { $and: [isOf(LEDGER), isSet('$updateDescription.updatedFields.lastupdated')] },
    { $and: [isOf(LEASES), isSet('$updateDescription.updatedFields.expires')] },
    { $and: [isOf(...RECORDS, ...memory), { $in: ['$operationType', LOST] }] },
    { $in: ['$to.coll', [...RECORDS, ...memory, SERVICES]] },
    { $in: ['$operationType', ['dropDatabase', 'invalidate']] },
  ],
});

/**
 * The stages behind `$changeStream`: records, tombstones, marks, services and what became of collections, and of their
 * events only a few bytes. Renewals of the lease concern nobody, but bring the stream a token every few seconds.
 * Records with a huge `_id` stay out: nobody is ever told of them, and their events would be larger than MongoDB can send.
 *
 * `memory` names the collections without which the watcher's own memory has a gap: their loss is like a lost history.
 */
export function eventPipeline(memory: string[]): mongo.Document[] {
  const followed = new Set([...RECORDS, ...memory, MARKS, LEDGER, SERVICES, LEASES]);
  return [
    { $match: { $or: [...[...followed].map(isIn), ...LOST.map(isA)] } },
    { $set: { concerns: concerns(memory) } },
    { $match: { concerns: true } },
    { $project: SHOWN },
  ];
}

/** MongoDB can pass over the rest of the log by names alone, without making events of it. */
const isIn = (name: string) => ({ 'ns.coll': name });
const isA = (operationType: string) => ({ operationType });

/** The few bytes of an event that anybody here needs. */
const SHOWN = {
  operationType: 1,
  clusterTime: 1,
  'ns.coll': 1,
  owner: idAt('$documentKey._id'),
  mark: { $cond: [{ $eq: ['$ns.coll', MARKS] }, '$documentKey._id', '$$REMOVE'] },
  announced: textAt('$fullDocument.announced'),
  raised: textAt('$updateDescription.updatedFields.announced'),
  stored: { ...identityTextsAt('$fullDocument.'), stamp: stampAt('$fullDocument.lastupdated') },
  changed: {
    ...identityTextsAt('$updateDescription.updatedFields.'),
    stamp: stampAt('$updateDescription.updatedFields.lastupdated'),
  },
  isKeyOnly: isOnly('emailkey'),
  isStampOnly: isOnly('lastupdated'),
  channels: {
    $concatArrays: [textsAt('$fullDocument.channels'), textsAt('$updateDescription.updatedFields.channels')],
  },
  placed: CHANNELS_PLACED,
  removed: { $setIntersection: ['$updateDescription.removedFields', [...IDENTITY, 'lastupdated']] },
};
