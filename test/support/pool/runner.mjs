import TestRunner from 'jest-runner';
import { isAlone, isHeavy } from './files.mjs';

/** `jest-runner` is CommonJS: what it exports as its default is a property. */
const JestRunner = TestRunner.default ?? TestRunner;

/** How many files each project has in this run, by its name. */
export const planned = new Map();

/**
 * One pool for the test files of all projects. A file takes one slot, a heavy one two, and one that measures or freezes the
 * machine takes all of them. Files begin in the order of the sequencer: none overtakes one that waits for its slots.
 */
export default class PoolRunner extends JestRunner {
  async runTests(tests, watcher, options) {
    const slots = this._globalConfig.maxWorkers;
    const pool = new Slots(slots);
    for (const { context } of tests) {
      const { name } = context.config.displayName;
      planned.set(name, (planned.get(name) ?? 0) + 1);
    }
    const weights = new Map(tests.map((test) => [test.path, weightOf(test.path, slots)]));
    const leave = (path) => pool.leave(weights.get(path));
    const offs = [
      this.on('test-file-start', ([{ path }]) => pool.enter(weights.get(path))),
      this.on('test-file-success', ([{ path }]) => leave(path)),
      this.on('test-file-failure', ([{ path }]) => leave(path)),
    ];
    try {
      await super.runTests(tests, watcher, options);
    } finally {
      offs.forEach((off) => off());
    }
  }
}

function weightOf(path, slots) {
  if (isAlone(path)) return slots;
  return Math.min(slots, isHeavy(path) ? 2 : 1);
}

/** A number of slots, given to those that wait in the order in which they came. */
export class Slots {
  #waiting = [];
  #free;

  constructor(count) {
    this.#free = count;
  }

  /** Resolves when there is room. */
  enter(weight) {
    return new Promise((resolve) => {
      this.#waiting.push({ weight, resolve });
      this.#admit();
    });
  }

  leave(weight) {
    this.#free += weight;
    this.#admit();
  }

  #admit() {
    while (this.#waiting.length > 0 && this.#waiting[0].weight <= this.#free) {
      const { weight, resolve } = this.#waiting.shift();
      this.#free -= weight;
      resolve();
    }
  }
}
