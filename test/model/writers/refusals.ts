import { identityKey } from '../../../src/replication/protocol/identity.js';
import { LANE_PLACES, PLACES } from '../world/documents.js';
import type { ModelWorld } from '../world/world.js';

const CHANCE_RECORD = 0.4;

/** From now on the database refuses the stamps of a record, or the ledger an identity. The change stream does not show it. */
export function refuse({ database, dice, profile, tell }: ModelWorld): void {
  const records = [...database.now.records.keys()];
  const isRecord = records.length > 0 && dice.chance(CHANCE_RECORD);
  const name = isRecord ? dice.pick(records) : identityKey(dice.pick(profile.lanes ? LANE_PLACES : PLACES));
  database.refused.add(name);
  tell?.(`  ${name} is refused`);
}

/** Something that was refused is taken again. */
export function takeAgain({ database: { refused }, dice, tell }: ModelWorld): void {
  if (refused.size === 0) return;
  const name = dice.pick([...refused]);
  refused.delete(name);
  tell?.(`  ${name} is taken again`);
}
