import type { mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import { CLOCK } from '../../database/index.js';
import type { Identity, LedgerEntry } from './ledger.js';

/** An identity lives, with the record that owns it. */
export interface Life {
  identity: Identity;
  at: mongo.Timestamp;
  alive: true;
  owner: mongo.ObjectId;
}

/** An identity has no record any more. */
export interface Death {
  identity: Identity;
  at: mongo.Timestamp;
  alive: false;
}

/** What the watcher learned about an identity at a cluster time. */
export type LedgerChange = Life | Death;

/** The entry of an identity never seen before. */
export function firstLife({ identity, at, owner }: Life): Omit<LedgerEntry, '_id'> {
  return { ...bare(identity), alive: true, owner, learned: at };
}

/** The write for an identity seen before, whatever it was; knowledge newer than this change stays. */
export function laterLife({ identity, at, owner }: Life): mongo.AnyBulkWriteOperation {
  return {
    updateOne: {
      filter: { ...matching(identity), learned: { $lte: at } },
      update: { $set: { alive: true, owner, learned: at }, $unset: { lastupdated: '' } },
    },
  };
}

/**
 * The write of a tombstone. An upsert, since the identity may have lived too shortly to be written down. Where the
 * ledger knows something newer, or has the tombstone already, the filter finds nothing and the insert runs into the
 * unique index, which means "leave it".
 */
export function death({ identity, at }: Death): mongo.AnyBulkWriteOperation {
  const { organizationid, appid, kind, id } = identity;
  const named = { organizationid: literal(organizationid), appid: literal(appid), kind, id: literal(id) };
  return {
    updateOne: {
      filter: { ...matching(identity), learned: { $lte: at }, alive: true },
      update: [
        { $set: { ...named, alive: false, owner: '$$REMOVE', lastupdated: CLOCK, learned: literal(at) } },
      ],
      upsert: true,
    },
  };
}

function bare({ organizationid, appid, kind, id }: Identity): Identity {
  return { organizationid, appid, kind, id };
}

function matching({ organizationid, appid, kind, id }: Identity): mongo.Document {
  return {
    organizationid: { $eq: organizationid },
    appid: { $eq: appid },
    kind: { $eq: kind },
    id: { $eq: id },
  };
}
