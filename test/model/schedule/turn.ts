import { Dice } from '../random/dice.js';
import type { ModelSteps } from '../world/steps.js';
import { APPLICATIONS, type StoredLane } from '../world/documents.js';
import type { Instance, ModelWorld } from '../world/world.js';
import { expiryOf } from '../watcher/expiry.js';
import { upkeepOf } from '../watcher/upkeep.js';
import { isLookDue, isStampingDue, lookingOf, stampingOf } from '../watcher/filters.js';
import { kindPassOf } from '../watcher/kind-pass.js';
import { lanesOf } from '../watcher/lane.js';
import { newLife } from '../watcher/lead.js';
import { followOn, forget } from '../service/knowledge.js';
import { markOf } from '../service/progress.js';
import { newWriter } from '../writers/writers.js';
import { operate } from '../writers/operator.js';
import { loseCollection } from '../writers/collection-losses.js';
import { refuse, takeAgain } from '../writers/refusals.js';
import type { ProfilePart } from './profile.js';

const MOST_WRITERS = 3;
const MOST_LEFT_BEHIND = 3;
/** What was left behind may have been on a connection that is closed. */
const CHANCE_LOST = 0.1;
/** That a watcher stamps for an edited filter, where one is pending, or looks at a service that waits. */
const CHANCE_BESIDE = 0.4;
const STRIDES = [1, 2, 3, 5, 8, 16];
/** Steps of the wall clock (milliseconds). */
const CLOCK_STEPS = [1, 2, 5, 300, 1200, 10_000, -5, -400, -3000];

/** Takes one turn. Its number alone decides who acts and how, given the world. */
export function takeTurn(world: ModelWorld, turn: number): void {
  const dice = new Dice(turn);
  world.dice = dice;
  world.database.wall += dice.below(2);
  const part = dice.weighted(world.profile.parts);
  if (part !== 'watch') world.tell?.(`-- ${part}`);
  act(world, part);
}

function act(world: ModelWorld, part: ProfilePart): void {
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
    case 'lose collection':
      return loseCollection(world);
    case 'lose history':
      return database.loseHistory();
    case 'lose old history':
      return loseOldHistory(world);
    case 'raise':
      return raiseSome(world);
    case 'lease runs out':
      return endLease(world);
    case 'hang':
      dice.pick(world.instances).watcher.hangs = true;
      return;
    case 'wake':
      for (const { watcher } of world.instances) watcher.hangs = false;
      return;
    case 'abandon':
      return abandon(world, dice.pick(world.instances));
    case 'what is left behind':
      return goOnLeftBehind(world);
    case 'crash':
      return crash(world);
    case 'crash of a consumer':
      return dice.pick(world.consumers).crash();
    case 'clock':
      database.wall += dice.pick(CLOCK_STEPS);
      return;
    case 'follow':
      return followOn(world, dice.pick(world.instances));
    case 'forget':
      return forget(dice.pick(world.instances));
    case 'refuse':
      return refuse(world);
    case 'take again':
      return takeAgain(world);
    case 'look after':
      return lookAfter(world);
    case 'work beside':
      return workBeside(world);
    case 'pass over the kind':
      return passOverKind(world);
    case 'expire':
      return advance(expiryOf(world, dice.pick(world.instances)), strideIn(world));
  }
}

function advanceWatcher(world: ModelWorld): void {
  const { name, watcher } = world.dice.pick(world.instances);
  world.tell?.(`-- watcher of ${name}`);
  if (watcher.hangs) return;
  const isBeside = isStampingDue(world) && world.dice.chance(CHANCE_BESIDE);
  const isLooking = !isBeside && isLookDue(watcher) && world.dice.chance(CHANCE_BESIDE);
  const beside = isLooking ? lookingOf(world, watcher) : undefined;
  advance(isBeside ? stampingOf(world, watcher) : (beside ?? watcher.steps), strideIn(world));
}

function lookAfter(world: ModelWorld): void {
  const { name, watcher } = world.dice.pick(world.instances);
  world.tell?.(`-- aftercare of ${name}`);
  if (!watcher.hangs) advance(upkeepOf(world, watcher), strideIn(world));
}

function workBeside(world: ModelWorld): void {
  const { name, watcher } = world.dice.pick(world.instances);
  const lanes = lanesOf(watcher);
  world.tell?.(`-- lane of ${name}`);
  if (!watcher.hangs && lanes.length > 0) advance(world.dice.pick(lanes), strideIn(world));
}

function passOverKind(world: ModelWorld): void {
  const { name, watcher } = world.dice.pick(world.instances);
  world.tell?.(`-- pass over the kind by ${name}`);
  if (!watcher.hangs) advance(kindPassOf(world, watcher), strideIn(world));
}

function strideIn({ dice, profile }: ModelWorld): number {
  return dice.pick(profile.strides ?? STRIDES);
}

export function advance(steps: ModelSteps, stride: number): void {
  for (let step = 0; step < stride; step++) if (steps.next().done === true) return;
}

/** An instance that waits for nothing: it goes by what it knew a while ago. */
function raiseSome({ database, dice }: ModelWorld): void {
  const appid = dice.pick(APPLICATIONS);
  const clock = database.clock();
  database.write('raises the mark', (tx) => tx.raise(markOf(appid), clock));
}

/** Up to where one of the loops has come. */
function loseOldHistory({ database, dice }: ModelWorld): void {
  const { token = 0, lanes = new Map<string, StoredLane>() } = database.now.lease;
  const places = [...lanes.values()].map(({ place, pass }) => place ?? pass?.reached?.token ?? 0);
  database.loseHistory(dice.pick([token, ...places]));
}

function beginWrite(world: ModelWorld): void {
  const writer = newWriter(world);
  writer.next();
  if (world.dice.chance(0.6) && writer.next().done === true) return;
  world.writers.push(writer);
  if (world.writers.length > MOST_WRITERS) goOnWriting(world);
}

function goOnWriting({ writers, dice }: ModelWorld): void {
  if (writers.length === 0) return;
  const index = dice.below(writers.length);
  if (writers[index]!.next().done === true) writers.splice(index, 1);
}

/** As if its holder had not renewed it: it may go on without knowing. */
export function endLease({ database }: ModelWorld): void {
  const { lease } = database.now;
  if (lease.isHeld) database.write('the lease runs out', (tx) => tx.writeLease({ ...lease, isHeld: false }));
}

/** What is at work in a term stays behind; the instance begins a new one as soon as it gets the lease. */
function abandon(world: ModelWorld, instance: Instance): void {
  const life = instance.watcher;
  instance.watcher = newLife(world);
  life.isLeftBehind = true;
  world.leftBehind.push(life);
  if (world.leftBehind.length > MOST_LEFT_BEHIND) world.leftBehind.shift();
  if (world.database.now.lease.term === life.term) endLease(world);
}

/**
 * A lease that nobody renews runs out, and whoever hangs is abandoned. For a mutant a timer renews the lease, whether or
 * not the watcher hangs that holds it, and nobody looks whether it does.
 */
export function endWhatShowsNoLife(world: ModelWorld): void {
  const hanging = world.instances.filter(({ watcher }) => watcher.hangs);
  if (world.has('a lease renewed by a timer') && hanging.length > 0) return;
  endLease(world);
  for (const instance of hanging) abandon(world, instance);
}

function goOnLeftBehind(world: ModelWorld): void {
  const { leftBehind, dice } = world;
  if (leftBehind.length === 0) return;
  if (dice.chance(CHANCE_LOST)) leftBehind.shift();
  else {
    const life = dice.pick(leftBehind);
    const { steps, aftercare, stamping, looking, kindPass } = life;
    const beside = [aftercare, ...lanesOf(life), stamping, looking, kindPass].filter(
      (some) => some !== undefined,
    );
    advance(beside.length > 0 && dice.chance(0.5) ? dice.pick(beside) : steps, strideIn(world));
  }
}

function crash(world: ModelWorld): void {
  const instance = world.dice.pick(world.instances);
  instance.watcher = newLife(world);
  delete instance.expiry;
  instance.raises.clear();
  instance.answers.clear();
  forget(instance);
}
