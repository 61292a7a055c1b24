import { CalmDice } from '../random/dice.js';
import type { ModelWorld } from '../world/world.js';
import { catchUp } from '../service/knowledge.js';
import { putRight } from '../writers/operator.js';
import { upkeepOf } from '../watcher/upkeep.js';
import { isLookDue, isStampingDue, lookingOf, stampingOf } from '../watcher/filters.js';
import { isKindDue, kindPassOf } from '../watcher/kind-pass.js';
import { lanesOf } from '../watcher/lane.js';
import { expiryOf } from '../watcher/expiry.js';
import { advance, endWhatShowsNoLife } from './turn.js';

const ROUNDS = 400;
/** Enough for an overtaken watcher to find out. */
const FEWEST_ROUNDS = 4;
const WATCHING = 6;
const CONSUMING = 6;
const HARVESTS = 2;
/** The first answers of `max` may come from raises that began before. */
const HARVESTS_UP_TO_MAX = 4;
/** Rounds in which all of the expired hard deletes are gone. */
const EXPIRING = 40;
/** Whoever is told to start over may begin with a `max` that was found before; then it is told once more, and never again. */
const MOST_BEGINNINGS = 2;
/** Longer than any stamp may lie ahead of the clock. */
const AHEAD_MS = 20_000;

/** Writers end, whoever watches goes on watching, and consumers harvest until nothing can move; false where they never do. */
export function heal(world: ModelWorld): boolean {
  world.dice = new CalmDice();
  world.tell?.('-- all is well from here on');
  for (const writer of world.writers) while (writer.next().done !== true);
  world.database.refused.clear();
  putRight(world);
  world.database.wall += AHEAD_MS;
  if (!settles(world)) return false;
  world.database.wall += AHEAD_MS;
  const { isKnowing, parts } = world.profile;
  if (parts.expire === undefined && !isKnowing) return harvestsEnd(world, HARVESTS);
  if (parts.expire !== undefined) expireAll(world);
  world.asksMax = true;
  return harvestsEnd(world, HARVESTS_UP_TO_MAX);
}

/** Until nothing is left that may go. */
function expireAll(world: ModelWorld): void {
  for (let round = 0; round < EXPIRING; round++) {
    for (const instance of world.instances) advance(expiryOf(world, instance), WATCHING);
    advanceWatchers(world, WATCHING);
  }
}

/** Until the log is worked through and nothing is set aside. */
function settles(world: ModelWorld): boolean {
  const begin = world.database.newest;
  for (let round = 0; round < ROUNDS; round++) {
    const { lease } = world.database.now;
    const end = world.database.end;
    advanceWatchers(world, WATCHING * 4);
    const { lease: after, quarantine } = world.database.now;
    const isLed = after.watched !== undefined && after.watched.compare(begin) > 0;
    const isWhole =
      isLed &&
      after.since !== undefined &&
      after.pass === undefined &&
      (after.lanes ?? new Map()).size === 0 &&
      quarantine.size === 0 &&
      !isStampingDue(world) &&
      !isKindDue(world) &&
      !world.instances.some(({ watcher }) => isLookDue(watcher) && watcher.term === after.term);
    if (round >= FEWEST_ROUNDS && isWhole && after.token === end && end === world.database.end) return true;
    if (lease.term === after.term && round % 40 === 39) endWhatShowsNoLife(world);
  }
  return false;
}

/** What hangs does so until it is abandoned; what was left behind lands late. */
function advanceWatchers(world: ModelWorld, stride: number): void {
  const { instances, leftBehind, database } = world;
  for (const { watcher } of instances) {
    if (watcher.hangs) continue;
    advance(watcher.steps, stride);
    for (const lane of lanesOf(watcher)) advance(lane, stride);
    if (isStampingDue(world)) advance(stampingOf(world, watcher), stride);
    if (isKindDue(world)) advance(kindPassOf(world, watcher), stride);
    if (isLookDue(watcher)) advance(lookingOf(world, watcher), stride);
    if (database.now.quarantine.size > 0) advance(upkeepOf(world, watcher), stride);
  }
  for (const life of leftBehind) {
    const { steps, aftercare, stamping, looking, kindPass } = life;
    advance(steps, stride);
    if (stamping !== undefined) advance(stamping, stride);
    if (looking !== undefined) advance(looking, stride);
    if (kindPass !== undefined) advance(kindPass, stride);
    for (const lane of lanesOf(life)) advance(lane, stride);
    if (aftercare !== undefined) advance(aftercare, stride);
  }
}

function harvestsEnd(world: ModelWorld, harvests: number): boolean {
  const wanted = world.consumers.map((consumer) => consumer.harvests + harvests);
  const allowed = world.consumers.map((consumer) => consumer.beginnings + MOST_BEGINNINGS);
  for (let round = 0; round < ROUNDS; round++) {
    const waiting = world.consumers.filter((consumer, index) => consumer.harvests < wanted[index]!);
    if (world.consumers.some(({ beginnings }, index) => beginnings > allowed[index]!)) return false;
    if (waiting.length === 0) return true;
    world.database.wall += 1;
    if (world.profile.isKnowing) for (const instance of world.instances) catchUp(world, instance);
    for (const consumer of waiting) advance(consumer.steps, CONSUMING);
    advanceWatchers(world, world.profile.lanes === undefined ? WATCHING : WATCHING * 4);
  }
  return false;
}
