import type { Identity } from '../../../src/replication/protocol/identity.js';
import type { Weights } from '../random/dice.js';
import {
  claimantsOf,
  type Color,
  identityOf,
  LANE_PLACES,
  MANY_LANE_PLACES,
  MANY_PLACES,
  objectId,
  PLACES,
  STOP,
  type ModelRecord,
} from '../world/documents.js';
import type { Transaction } from '../world/transaction.js';
import type { ModelWorld } from '../world/world.js';
import { ANY_STAMPING, type GiveStamp, planStamp } from './stamps.js';

/** One thing that a writer may do to records. What does not fit the records when it is committed does nothing. */
export type ChangeName = 'insert' | 'change' | 'replace' | 'delete' | 'move' | 'swap' | 'renew' | 'retype';

export const ANY_CHANGE: Weights<ChangeName> = {
  insert: 4,
  change: 4,
  replace: 1,
  delete: 2,
  move: 2,
  swap: 1,
  renew: 1,
  retype: 0,
};

/** An identity; which of those that claim it a change is about. */
type Place = Identity & { nth?: number };

/** A change that is decided, to be committed with the clock of its beginning. */
export type WriterChange = (transaction: Transaction, clock: Date) => void;

export const COLORS: Color[] = ['red', 'blue'];

export function planChange(world: ModelWorld): WriterChange {
  const { dice, profile } = world;
  const give = planStamp(dice, profile.stamps ?? ANY_STAMPING);
  const name = dice.weighted(profile.changes ?? ANY_CHANGE);
  const place = name === 'insert' ? somePlace(world) : placeOfSome(world);
  const other = somePlace(world);
  switch (name) {
    case 'insert':
      return insertion(world, place, give);
    case 'change':
      return changeOf(world, place, give);
    case 'replace':
      return replacement(world, place, give);
    case 'delete':
      return (tx) => withRecord(tx, place, (record) => tx.remove(record));
    case 'move':
      return (tx, clock) => moveTo(tx, place, other, give, clock);
    case 'swap':
      return (tx, clock) => swap(tx, place, other, give, clock);
    case 'renew':
      return renewal(world, place, give);
    case 'retype':
      return (tx, clock) => retype(tx, place, give, clock);
  }
}

function somePlace({ dice, profile }: ModelWorld): Place {
  if (profile.lanes && profile.manyPlaces) return dice.pick(MANY_LANE_PLACES);
  if (profile.lanes) return { ...dice.pick(LANE_PLACES), ...(profile.numbers && { nth: dice.below(6) }) };
  if (profile.numbers) return { ...dice.pick(PLACES.slice(1)), nth: dice.below(6) };
  return dice.pick(profile.manyPlaces ? MANY_PLACES : PLACES);
}

/** Among many places, one where a record stands. */
function placeOfSome(world: ModelWorld): Place {
  const records = [...world.database.now.records.values()];
  if (world.profile.manyPlaces && records.length > 0) return identityOf(world.dice.pick(records));
  return somePlace(world);
}

/** A change of single fields of whichever record stands there. */
export function changeOf(world: ModelWorld, place: Place, give: GiveStamp): WriterChange {
  const color = world.dice.pick(COLORS);
  return (tx, clock) =>
    withRecord(tx, place, (record) =>
      tx.update(
        record,
        stamped({ ...record, color, text: world.newText() }, give(record.lastupdated, clock)),
      ),
    );
}

export function insertion(world: ModelWorld, place: Identity, give: GiveStamp): WriterChange {
  const { dice, profile } = world;
  const color = dice.pick(COLORS);
  const earlier = dice.chance(0.1) ? dice.below(8) : undefined;
  const typed = profile.numbers && dice.chance(0.6) ? { isNumber: true as const } : {};
  return (tx, clock) => {
    const _id = earlier === undefined ? world.newId() : objectId(earlier);
    const { appid, id } = place;
    const record = { _id, key: _id.toHexString(), appid, id, ...typed, color, text: world.newText() };
    tx.insert(stamped(record, give(undefined, clock)));
  };
}

function replacement(world: ModelWorld, place: Place, give: GiveStamp): WriterChange {
  const color = world.dice.pick(COLORS);
  return (tx, clock) =>
    withRecord(tx, place, (record) =>
      tx.replace(stamped({ ...record, color, text: world.newText() }, give(record.lastupdated, clock))),
    );
}

/** Deleted and inserted again under the same `id` with another `_id`, all at once. */
function renewal(world: ModelWorld, place: Place, give: GiveStamp): WriterChange {
  return (tx, clock) =>
    withRecord(tx, place, (record) => {
      const _id = world.newId();
      const after = { ...record, _id, key: _id.toHexString(), text: world.newText() };
      tx.remove(record);
      tx.insert(stamped(after, give(record.lastupdated, clock)));
    });
}

function moveTo(tx: Transaction, from: Place, to: Identity, give: GiveStamp, clock: Date): void {
  withRecord(tx, from, (record) => {
    const { appid, id } = to;
    tx.update(record, stamped({ ...record, appid, id }, give(record.lastupdated, clock)));
  });
}

/** Two records exchange their `id`s. The unique index wants one of them to make a stop on the way. */
function swap(tx: Transaction, one: Place, other: Place, give: GiveStamp, clock: Date): void {
  moveTo(tx, one, STOP, give, clock);
  moveTo(tx, other, one, give, clock);
  moveTo(tx, STOP, other, give, clock);
}

/** A number becomes its text, or the other way about. */
function retype(tx: Transaction, place: Place, give: GiveStamp, clock: Date): void {
  withRecord(tx, place, ({ isNumber, ...record }) => {
    const before = { ...record, ...(isNumber && { isNumber }) };
    const after = isNumber ? record : { ...record, isNumber: true as const };
    tx.update(before, stamped(after, give(record.lastupdated, clock)));
  });
}

function withRecord(tx: Transaction, place: Place, act: (record: ModelRecord) => void): void {
  const claimants = claimantsOf(tx.state, place);
  const record = claimants[(place.nth ?? 0) % claimants.length];
  if (record !== undefined) act(record);
}

export function stamped(record: ModelRecord, lastupdated: Date | undefined): ModelRecord {
  const { lastupdated: _before, ...rest } = record;
  return lastupdated === undefined ? rest : { ...rest, lastupdated };
}
