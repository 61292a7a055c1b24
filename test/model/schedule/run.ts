import { CursorConsumer } from '../consumer/cursor.js';
import { GreatestStampConsumer } from '../consumer/greatest-stamp.js';
import { ThreeFeedsConsumer } from '../consumer/three-feeds.js';
import type { MutantName } from '../mutants/names.js';
import { newLife } from '../watcher/lead.js';
import { APPLICATION, APPLICATIONS } from '../world/documents.js';
import { ModelWorld } from '../world/world.js';
import { serviceOf } from '../writers/operator.js';
import { heal } from './heal.js';
import { judge } from './judge.js';
import type { Profile } from './profile.js';
import { takeTurn } from './turn.js';

const READERS = {
  feeds: ThreeFeedsConsumer,
  cursor: CursorConsumer,
  'greatest stamp': GreatestStampConsumer,
};
const CONSUMERS = ['consumer 1', 'consumer 2', 'consumer 3'];

/** Two instances and three consumers, before anything has happened. */
export function newWorld(profile: Profile, mutant?: MutantName): ModelWorld {
  const world = new ModelWorld(profile, mutant);
  for (const name of ['instance 1', 'instance 2'])
    world.instances.push({ name, watcher: newLife(world), raises: new Map(), answers: new Map() });
  if (profile.isCreated)
    world.database.write('creates the kind', (tx) =>
      tx.writeLease({ ...tx.state.lease, kind: { pass: { isRepair: false } } }),
    );
  const filtered = CONSUMERS.slice(CONSUMERS.length - (profile.filtered ?? 1));
  for (const [index, name] of CONSUMERS.entries()) {
    const Consumer = READERS[profile.reads?.[index] ?? 'feeds'];
    const appid = (profile.lanes && APPLICATIONS[index]) ?? APPLICATION;
    world.consumers.push(
      new Consumer(world, name, filtered.includes(name) ? serviceOf(appid) : undefined, appid),
    );
  }
  return world;
}

/** Plays a schedule to its end; answers what is wrong then, or nothing. */
export function play(world: ModelWorld, turns: readonly number[]): string | undefined {
  world.profile.opening?.(world);
  for (const turn of turns) takeTurn(world, turn);
  return heal(world) ? judge(world) : 'the histories never come to rest';
}
