import { updatedIdentity } from '../../../src/replication/protocol/identity.js';
import type { WrittenEvent } from '../../../src/replication/protocol/events.js';
import type { MutantName } from '../mutants/names.js';
import { isGone } from '../service/view.js';
import { ORGANIZATION } from '../world/documents.js';
import { toldId } from '../world/events.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';

/** A record cannot be read as of an event any more: what it was then only a pass over everything makes up for. */
export class LostTrack extends Error {}

/** Nothing where track is lost. */
export function* inTrack<Result>(work: ModelSteps<Result>): ModelSteps<Result | undefined> {
  try {
    return yield* work;
  } catch (error) {
    if (!(error instanceof LostTrack)) throw error;
    return undefined;
  }
}

/**
 * The event as it would tell of the record as a whole: as the record was at that very time. Nothing where it was gone. For a
 * mutant the record is taken as it is now where the server does not hold that moment any more.
 */
export function wholeAsOf(
  world: ModelWorld,
  event: WrittenEvent,
  readsLate?: MutantName,
): WrittenEvent | undefined {
  const { database } = world;
  const isLate = isGone(world);
  if (isLate && !(readsLate && world.has(readsLate))) throw new LostTrack();
  const { records } = isLate ? database.now : database.asOf(event.at);
  const record = records.get(String(event.owner));
  if (!isLate) world.read.add(event);
  if (record === undefined) return undefined;
  const present = { organizationid: ORGANIZATION, appid: record.appid, ...toldId(record) };
  return { ...event, whole: true, identity: updatedIdentity(present, event.identity) };
}
