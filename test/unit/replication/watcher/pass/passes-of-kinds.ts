import { mongo } from 'mongoose';
import { kindsIn, replaceKinds } from '../../../../../src/kinds/index.js';
import { type PassedKind, type WatchState } from '../../../../../src/replication/protocol/index.js';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { KindPasses } from '../../../../../src/replication/watcher/pass/kind-passes.js';
import type { Term } from '../../../../../src/replication/watcher/term/stream-work.js';

export const DOCUMENT = { _id: new mongo.ObjectId(), name: 'order', collection: 'orders' };
export const RECORDS: Record<string, number> = { orders: 1_000_000, prices: 10 };
export const NOW = new mongo.Timestamp({ t: 7, i: 1 });
export const NEVER = new AbortController().signal;

/** Fails for a collection that nothing is known of. */
function estimate(name: string): Promise<number> {
  const count = RECORDS[name];
  return count === undefined ? Promise.reject(new Error('no estimate')) : Promise.resolve(count);
}

/** Passes whose work ends when the test says so, and what they have stored. */
export function passes(keepOf: () => Promise<void> = () => Promise.resolve()) {
  const stored: PassedKind[] = [];
  const begun: AbortSignal[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const run = ({ stop }: { stop: AbortSignal }) => {
    begun.push(stop);
    return new Promise<void>((resolve, reject) =>
      ends.push((error) => (error === undefined ? resolve() : reject(error))),
    );
  };
  const failures: Error[] = [];
  const answers: Promise<boolean>[] = [];
  const save = (_term: number, { kinds }: { kinds: PassedKind[] }) => {
    const failure = failures.pop();
    if (failure !== undefined) return Promise.reject(failure);
    stored.splice(0, Infinity, ...kinds);
    return answers.shift() ?? Promise.resolve(true);
  };
  let counted: Promise<void> = Promise.resolve();
  /** From now on, counts wait for the returned function. */
  const counting = () => {
    let end = (): void => undefined;
    counted = new Promise((resolve) => (end = resolve));
    return end;
  };
  const parts = [
    {
      collection: (name: string) => ({
        estimatedDocumentCount: () => counted.then(() => estimate(name)),
        findOne: () => Promise.resolve(null),
      }),
    },
    { run },
    { knowsKind: () => Promise.resolve(false) },
    { keepOf },
    { save },
    { now: () => Promise.resolve({ at: NOW }) },
    {},
  ] as unknown as ConstructorParameters<typeof KindPasses>;
  const kinds = new KindPasses(...parts);
  const term = termWith({ term: 1 });
  void kinds.beginTerm(term);
  return { kinds, term, stored, begun, ends, failures, answers, counting };
}

export function termWith(state: Partial<WatchState>): Term {
  return { ...NO_TERM, state } as unknown as Term;
}

export const turn = () => new Promise((resolve) => setImmediate(resolve));

export function kindsNamed(...names: string[]): void {
  replaceKinds(kindsIn(names.map((name) => ({ _id: new mongo.ObjectId(), name, collection: `${name}s` }))));
}
