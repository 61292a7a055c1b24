import type { mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import { CLOCK } from '../../database/index.js';
import type { Identity } from './ledger.js';

/** What the watcher learned about an identity at a cluster time. */
export type LedgerChange = { identity: Identity; at: mongo.Timestamp } & (
  { alive: true; owner: mongo.ObjectId } | { alive: false }
);

/**
 * The one atomic write of a change. Each is an upsert: where the ledger knows something newer, or has the tombstone
 * already, the filter finds nothing and the insert runs into the unique index, which means "leave it".
 */
export function ledgerWrite(change: LedgerChange): mongo.AnyBulkWriteOperation {
  const { organizationid, appid, kind, id } = change.identity;
  const identity = {
    organizationid: { $eq: organizationid },
    appid: { $eq: appid },
    kind: { $eq: kind },
    id: { $eq: id },
  };
  const notNewer = { learned: { $lte: change.at } };
  return {
    updateOne: {
      filter: change.alive ? { ...identity, ...notNewer } : { ...identity, ...notNewer, alive: true },
      update: [{ $set: { ...asLiterals(change.identity), learned: literal(change.at), ...stateOf(change) } }],
      upsert: true,
    },
  };
}

function stateOf(change: LedgerChange): mongo.Document {
  return change.alive
    ? { alive: true, owner: literal(change.owner), lastupdated: '$$REMOVE' }
    : { alive: false, owner: '$$REMOVE', lastupdated: CLOCK };
}

function asLiterals({ organizationid, appid, kind, id }: Identity): mongo.Document {
  return { organizationid: literal(organizationid), appid: literal(appid), kind, id: literal(id) };
}
