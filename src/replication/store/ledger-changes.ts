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
import { literal } from '../../platform/common/index.js';
import { CLOCK } from '../../platform/database/plain.js';
import { STAMP } from '../../record/index.js';
import { inSlices } from './walk.js';
import type { LedgerEntry } from './collections.schema.js';

/** The entry of an identity never seen before. */
export function firstEntry({ identity, at, owner, isNumber, isLooked }: Life): Omit<LedgerEntry, '_id'> {
  const how = { ...(isNumber && { isNumber }), ...(isLooked && { isLooked }) };
  return { ...bare(identity), alive: true, owner, learned: at, ...how };
}

/**
 * The write for an identity that is already alive. Newer knowledge is kept. A record with a text as `id` takes over the
 * entry of another such record. So does the record that already owns the entry. In every other case, the entry first
 * becomes a tombstone, and rule 4 then revives it for the new owner.
 */
export function beginLaterLife(life: Life): mongo.AnyBulkWriteOperation {
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

/** The write that ends the previous owner's life, before this life is revived from the tombstone. */
export function endEarlierLife({ identity, at, owner }: Life): mongo.AnyBulkWriteOperation {
  return endOfOther({ owner: { $ne: owner } }, identity, at);
}

/** Like {@link endEarlierLife}, but only if the previous owner has a numeric `id`. */
export function endEarlierNumber({ identity, at, owner }: Life): mongo.AnyBulkWriteOperation {
  return endOfOther({ owner: { $ne: owner }, isNumber: true }, identity, at);
}

/**
 * The writes that revive tombstones, one for each application and kind. Each identity must occur only once. A write
 * compares `learned` only with the latest of its lives. If it has several lives, run it in the transaction that has
 * read their tombstones and found each of them older than its life.
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
 * The writes of tombstones: one for each slice of an application and kind, because separate writes would cost four
 * times as much, and one for each short life. The tombstones of one write all get the latest of their places in the
 * log. This is correct, because they come from one section of the log in which nothing else happened to these
 * identities. `along` hints the index of identities for the grouped writes. Without it, MongoDB tries other indexes for
 * each write, among them those of all tombstones.
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
 * An upsert that ends a living entry, updates an older tombstone, or inserts a tombstone, which takes its identity from
 * the filter. If the ledger has newer knowledge or this very tombstone, the filter matches nothing and the insert fails
 * on the unique index. That error means that there is nothing to write. The stamp of an existing tombstone always
 * advances. Otherwise, while the clock does not advance, the stamp would stay the same, and a consumer that has already
 * read up to that stamp would never receive the second delete.
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

/** Groups changes by application and kind. */
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
 * The fields of a tombstone that replaces a living entry, which has no stamp. An owner with a numeric `id` is stored as
 * `number`. An abandoned term may write this tombstone late, after the current term has learned the owner again; no
 * further event reports that record, so the field is the only trace of it.
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
