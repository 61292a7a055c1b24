import type { mongo } from 'mongoose';
import {
  type Life,
  type Death,
  type LedgerChange,
  before,
  type LogPlace,
  upTo,
  type Identity,
  identityKey,
} from '../protocol/index.js';
import { literal } from '../../common/index.js';
import { CLOCK } from '../../database/plain.js';
import { STAMP } from '../../record/index.js';
import { inSlices } from './walk.js';
import type { LedgerEntry } from './collections.schema.js';

/** The entry of an identity never seen before. */
export function firstLife({ identity, at, owner, isNumber, isLooked }: Life): Omit<LedgerEntry, '_id'> {
  const how = { ...(isNumber && { isNumber }), ...(isLooked && { isLooked }) };
  return { ...bare(identity), alive: true, owner, learned: at, ...how };
}

/**
 * The write for an identity that lives already; knowledge newer than this change stays. A text takes the entry of another
 * text. Nothing else takes one that lives: first its owner leaves a tombstone, from which rule 4 brings back the next.
 */
export function laterLife(life: Life): mongo.AnyBulkWriteOperation {
  const { identity, at, owner, isNumber, wasText } = life;
  const isText = !isNumber || wasText;
  const gone = { lastupdated: '', isLooked: '', ...(!isNumber && { isNumber: '' }) };
  const whose = isText ? { $or: [{ owner }, { isNumber: { $ne: true } }] } : { owner };
  return {
    updateOne: {
      filter: { ...matching(identity), alive: true, learned: upTo(at), ...whose },
      update: { $set: { alive: true, owner, learned: at, ...(isNumber && { isNumber }) }, $unset: gone },
    },
  };
}

/** The write by which what lived there ends, before this life comes back from its tombstone. */
export function lifeBefore({ identity, at, owner }: Life): mongo.AnyBulkWriteOperation {
  return endOfOther({ owner: { $ne: owner } }, identity, at);
}

/** The same where a number lives there. */
export function numberBefore({ identity, at, owner }: Life): mongo.AnyBulkWriteOperation {
  return endOfOther({ owner: { $ne: owner }, isNumber: true }, identity, at);
}

/**
 * The writes by which tombstones live again, one for each application and kind; each identity is there once. One write has
 * a single condition of age, so that several lives belong in the transaction that found their tombstones to be older.
 */
export function revivals(lives: Life[]): { updateMany: mongo.UpdateManyModel }[] {
  return groupsOf(lives).map((group) => {
    const { organizationid, appid, kind } = bare(group[0]!.identity);
    const ids = group.map(idOf);
    const filter = {
      organizationid,
      appid,
      kind,
      id: { $in: ids },
      alive: false,
      learned: upTo(latest(group)),
    };
    const place = { $indexOfArray: [literal(ids), '$id'] };
    const own = (values: unknown[]) => ({ $arrayElemAt: [literal(values), place] });
    const isNumber = own(group.map((life) => life.isNumber ?? false));
    const update = {
      alive: true,
      owner: own(group.map(({ owner }) => owner)),
      learned: own(group.map(({ at }) => at)),
      isNumber: { $cond: [isNumber, true, '$$REMOVE'] },
      isLooked: { $cond: [own(group.map((life) => life.isLooked ?? false)), true, '$$REMOVE'] },
      number: { $cond: [isNumber, '$$REMOVE', { $ifNull: ['$number', '$$REMOVE'] }] },
      lastupdated: '$$REMOVE',
    };
    return { updateMany: { filter, update: [{ $set: update }] } };
  });
}

/**
 * The writes of tombstones, one for all of an application and kind: one by one they would cost four times as much. All
 * of them are then known as of the last of their places in the log, which is true, since they come from one stretch of
 * the log in which nothing else happened to these identities. `along` names the index of identities: without it MongoDB tries
 * others with each write, among them those of all tombstones.
 */
export function tombstones(deaths: Death[], along: { hint?: string }): mongo.AnyBulkWriteOperation[] {
  return [
    ...groupsOf(deaths.filter((one) => !one.shortLived)).flatMap((group) =>
      [...inSlices(group, idOf)].map((some) => groupDeath(some, along)),
    ),
    ...deaths.filter((one) => one.shortLived).map(shortLifeDeath),
  ];
}

function groupDeath(deaths: Death[], along: { hint?: string }): mongo.AnyBulkWriteOperation {
  const at = latest(deaths);
  const { organizationid, appid, kind } = bare(deaths[0]!.identity);
  const ids = { $in: deaths.map(idOf) };
  const filter = { organizationid, appid, kind, id: ids, alive: true, learned: upTo(at) };
  return { updateMany: { filter, update: [{ $set: dead(at) }], ...along } };
}

/**
 * An upsert, which also moves a tombstone of an earlier life; a new one takes its identity from the filter. Where the ledger knows
 * something newer, or has this very tombstone already, the filter finds nothing and the insert runs into the unique index, which
 * means "leave it". The stamp of a tombstone that is there already always moves: where the clock stands still, the log would else
 * show no new stamp, and a mark that was raised in between would miss it.
 */
function shortLifeDeath({ identity, at }: Death): mongo.AnyBulkWriteOperation {
  return {
    updateOne: {
      filter: { ...matching(identity), $or: [{ learned: before(at) }, { learned: at, alive: true }] },
      update: [{ $set: { ...dead(at), lastupdated: STAMP } }],
      upsert: true,
    },
  };
}

function endOfOther(whose: mongo.Document, identity: Identity, at: LogPlace): mongo.AnyBulkWriteOperation {
  const filter = { ...matching(identity), alive: true, learned: upTo(at), ...whose };
  return { updateOne: { filter, update: [{ $set: dead(at) }] } };
}

/** By application and kind. */
function groupsOf<T extends LedgerChange>(changes: T[]): T[][] {
  const groups = new Map<string, T[]>();
  for (const change of changes) {
    const key = identityKey({ ...change.identity, id: '' });
    const group = groups.get(key) ?? [];
    group.push(change);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function latest(changes: LedgerChange[]): LogPlace {
  return changes.map(({ at }) => at).reduce((last, one) => (one > last ? one : last));
}

function idOf({ identity }: LedgerChange): string {
  return identity.id;
}

/**
 * What a living entry becomes, which has no stamp so far. A number that ends is remembered: a term that was given up may end one
 * that was learned since, of which no event tells again.
 */
function dead(at: LogPlace): mongo.Document {
  const number = { $cond: ['$isNumber', '$owner', { $ifNull: ['$number', '$$REMOVE'] }] };
  const gone = { owner: '$$REMOVE', isNumber: '$$REMOVE', isLooked: '$$REMOVE' };
  return { alive: false, ...gone, number, lastupdated: CLOCK, learned: literal(at) };
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
