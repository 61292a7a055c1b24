import { Dice } from '../random/dice.js';
import type { Steps } from '../world/steps.js';
import type { World } from '../world/world.js';
import { expiryOf } from '../watcher/expiry.js';
import { watch } from '../watcher/lead.js';
import { newWriter } from '../writers/writers.js';
import { operate } from '../writers/operator.js';
import { upheave } from '../writers/upheavals.js';
import type { Part } from './profile.js';

const MOST_WRITERS = 3;
const STRIDES = [1, 2, 3, 5, 8, 16];
/** Steps of the wall clock (milliseconds). */
const CLOCK_STEPS = [1, 2, 5, 300, 1200, 10_000, -5, -400, -3000];

/** Takes one turn. Its number alone decides who acts and how, given the world. */
export function takeTurn(world: World, turn: number): void {
  const dice = new Dice(turn);
  world.dice = dice;
  world.database.wall += dice.below(2);
  const part = dice.weighted(world.profile.parts);
  if (part !== 'watch') world.tell?.(`-- ${part}`);
  act(world, part);
}

function act(world: World, part: Part): void {
  const { database, dice } = world;
  switch (part) {
    case 'watch':
      return advanceWatcher(world);
    case 'consume':
      return advance(dice.pick(world.consumers).steps, strideIn(world));
    case 'write':
      return beginWrite(world);
    case 'commit':
      return goOnWriting(world);
    case 'operate':
      return operate(world);
    case 'upheave':
      return upheave(world);
    case 'lose history':
      return database.loseHistory();
    case 'lease runs out':
      return endLease(world);
    case 'crash':
      return crash(world);
    case 'crash of a consumer':
      return dice.pick(world.consumers).crash();
    case 'clock':
      database.wall += dice.pick(CLOCK_STEPS);
      return;
    case 'expire':
      return advance(expiryOf(world, dice.pick(world.instances)), strideIn(world));
  }
}

function advanceWatcher(world: World): void {
  const { name, watcher } = world.dice.pick(world.instances);
  world.tell?.(`-- watcher of ${name}`);
  advance(watcher, strideIn(world));
}

function strideIn({ dice, profile }: World): number {
  return dice.pick(profile.strides ?? STRIDES);
}

export function advance(steps: Steps, stride: number): void {
  for (let step = 0; step < stride; step++) if (steps.next().done === true) return;
}

function beginWrite(world: World): void {
  const writer = newWriter(world);
  writer.next();
  if (world.dice.chance(0.6) && writer.next().done === true) return;
  world.writers.push(writer);
  if (world.writers.length > MOST_WRITERS) goOnWriting(world);
}

function goOnWriting({ writers, dice }: World): void {
  if (writers.length === 0) return;
  const index = dice.below(writers.length);
  if (writers[index]!.next().done === true) writers.splice(index, 1);
}

/** As if its holder had not renewed it: it may go on without knowing. */
export function endLease({ database }: World): void {
  const { lease } = database.now;
  if (lease.isHeld) database.write('the lease runs out', (tx) => tx.writeLease({ ...lease, isHeld: false }));
}

function crash(world: World): void {
  const instance = world.dice.pick(world.instances);
  instance.watcher = watch(world);
  delete instance.expiry;
  delete instance.raise;
  delete instance.answer;
}
