import { PLACES, type ModelRecord } from '../world/documents.js';
import type { ModelWorld } from '../world/world.js';
import { ANY_STAMPING, planStamp } from './stamps.js';
import { COLORS, stamped } from './changes.js';

/** Drops the collection, or renames another one over it, in which anything may stand. */
export function loseCollection(world: ModelWorld): void {
  const { database, dice } = world;
  if (dice.chance(0.4)) database.write('a drop', (tx) => tx.loseCollection('drop', []));
  else {
    const records = [...database.now.records.values()].flatMap((record) =>
      dice.chance(0.5) ? [like(world, record)] : [],
    );
    if (dice.chance(0.5)) records.push(...stranger(world, records));
    database.write('a rename', (tx) => tx.loseCollection('rename', records));
  }
}

/** A record of another collection under the same `id`: the same one, or a change or a copy of it. */
function like(world: ModelWorld, record: ModelRecord): ModelRecord {
  const { database, dice, profile } = world;
  const give = planStamp(dice, profile.stamps ?? ANY_STAMPING);
  const text = dice.chance(0.5) ? record.text : world.newText();
  const _id = dice.chance(0.5) ? record._id : world.newId();
  const after = { ...record, _id, key: _id.toHexString(), text };
  return stamped(after, give(record.lastupdated, database.clock()));
}

function stranger(world: ModelWorld, others: ModelRecord[]): ModelRecord[] {
  const { database, dice, profile } = world;
  const place = PLACES.find(({ appid, id }) => !others.some((one) => one.appid === appid && one.id === id));
  const give = planStamp(dice, profile.stamps ?? ANY_STAMPING);
  if (place === undefined) return [];
  const _id = world.newId();
  const { appid, id } = place;
  const record = { _id, key: _id.toHexString(), appid, id, color: dice.pick(COLORS), text: world.newText() };
  return [stamped(record, give(undefined, database.clock()))];
}
