import type { ModelSteps } from '../world/steps.js';
import type { WatcherLife, ModelWorld } from '../world/world.js';
import { takeLanes } from './aside.js';
import { follow } from './follow.js';
import { pass } from './pass.js';
import { lookAtChanged } from './filters.js';
import { ModelWatcher } from './watcher.js';

/** The life of an instance's watcher: wait for the lease, lead until the term is over, begin again. */
export function newLife(world: ModelWorld): WatcherLife {
  const life: WatcherLife = {
    steps: [][Symbol.iterator]() as ModelSteps,
    waiting: new Set(),
    isLooking: false,
    hangs: false,
    isLeftBehind: false,
  };
  life.steps = watch(world, life);
  return life;
}

function* watch(world: ModelWorld, life: WatcherLife): ModelSteps {
  while (!life.isLeftBehind) {
    const watcher = takeLease(world, life);
    if (watcher !== undefined) {
      life.main = watcher;
      yield* lead(watcher);
      if (!life.isLeftBehind) life.main = undefined;
    }
    yield;
  }
}

function takeLease(world: ModelWorld, life: WatcherLife): ModelWatcher | undefined {
  const { database } = world;
  const { lease } = database.now;
  if (lease.isHeld) return undefined;
  const term = lease.term + 1;
  database.write('takes the lease', (tx) => tx.writeLease({ ...lease, term, isHeld: true }));
  const isWhole = lease.since !== undefined && lease.pass === undefined;
  life.term = term;
  life.waiting = new Set();
  return new ModelWatcher(world, { term, life }, isWhole ? lease.token : undefined, lease.watched);
}

function* lead(watcher: ModelWatcher): ModelSteps {
  if (watcher.token !== undefined) {
    yield;
    watcher.takeMarksAsTheyStand();
    takeLanes(watcher);
    watcher.hasStream = true;
    if (!watcher.world.has('a term that begins looks at no filters')) yield* lookAtChanged(watcher);
  }
  for (;;) {
    yield;
    const isOver = yield* watcher.token === undefined ? pass(watcher) : follow(watcher, watcher.token);
    if (isOver) return;
    watcher.hasStream = watcher.token !== undefined;
  }
}
