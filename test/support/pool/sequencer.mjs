import { createHash } from 'node:crypto';
import Sequencer from '@jest/test-sequencer';
import { placeOf } from './files.mjs';

const JestSequencer = Sequencer.default ?? Sequencer;

/** The longest files first, all others as the seed of the run shuffles them (`--seed`), and those that run alone last. */
export default class PoolSequencer extends JestSequencer {
  #seed;

  constructor(options) {
    super(options);
    this.#seed = options.globalConfig.seed;
  }

  sort(tests) {
    const keys = new Map(tests.map((test) => [test, this.#key(test)]));
    return [...tests].sort((one, other) => {
      const [a, b] = [keys.get(one), keys.get(other)];
      return a.place === b.place ? (a.lot < b.lot ? -1 : 1) : a.place < b.place ? -1 : 1;
    });
  }

  #key({ path, context }) {
    const name = `${this.#seed} ${context.config.displayName?.name} ${path}`;
    return { place: placeOf(path), lot: createHash('sha1').update(name).digest('hex') };
  }
}
