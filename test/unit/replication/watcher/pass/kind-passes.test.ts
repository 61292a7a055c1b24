import { mongo } from 'mongoose';
import { documentKey, kindsIn, replaceKinds } from '../../../../../src/kinds/index.js';
import {
  type PassedKind,
  placeAfter,
  type WatchState,
} from '../../../../../src/replication/protocol/index.js';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { KindPasses } from '../../../../../src/replication/watcher/pass/kind-passes.js';
import type { Term } from '../../../../../src/replication/watcher/term/stream-work.js';

const DOCUMENT = { _id: new mongo.ObjectId(), name: 'order', collection: 'orders' };
const RECORDS: Record<string, number> = { orders: 1_000_000, prices: 10 };
const NOW = new mongo.Timestamp({ t: 7, i: 1 });
const NEVER = new AbortController().signal;

beforeEach(() => replaceKinds(kindsIn([DOCUMENT])));
afterEach(() => replaceKinds(new Map()));

/** Fails for a collection that nothing is known of. */
function estimate(name: string): Promise<number> {
  const count = RECORDS[name];
  return count === undefined ? Promise.reject(new Error('no estimate')) : Promise.resolve(count);
}

/** Passes whose work ends when the test says so, and what they have stored. */
function passes(keepOf: () => Promise<void> = () => Promise.resolve()) {
  const stored: PassedKind[] = [];
  const begun: AbortSignal[] = [];
  const ends: (() => void)[] = [];
  const run = ({ stop }: { stop: AbortSignal }) => {
    begun.push(stop);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const failures: Error[] = [];
  const save = (_term: number, { kinds }: { kinds: PassedKind[] }) => {
    const failure = failures.pop();
    if (failure !== undefined) return Promise.reject(failure);
    stored.splice(0, Infinity, ...kinds);
    return Promise.resolve(true);
  };
  const parts = [
    { collection: (name: string) => ({ estimatedDocumentCount: () => estimate(name) }) },
    { run },
    { knowsKind: () => Promise.resolve(false) },
    { keepOf },
    { save },
    { now: () => Promise.resolve({ at: NOW }) },
    {},
  ] as unknown as ConstructorParameters<typeof KindPasses>;
  const kinds = new KindPasses(...parts);
  const state = { term: 1 } as WatchState;
  void kinds.beginTerm({ ...NO_TERM, state } as unknown as Term);
  return { kinds, stored, begun, ends, failures };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('a kind is ready once its pass has ended, and not before', async () => {
  const { kinds, stored, ends } = passes();
  kinds.goOn();
  const step = kinds.step(NEVER);
  await turn();
  expect(stored).toEqual([expect.objectContaining({ kind: 'order', pass: expect.any(Object) })]);
  expect(kinds.ready()).not.toContain('order');
  ends[0]!();
  await step;
  expect(stored).toEqual([{ kind: 'order', document: documentKey(DOCUMENT._id, DOCUMENT), since: NOW }]);
  expect(kinds.ready()).toContain('order');
});

it('a pass that is interrupted has stopped before the history begins again, and has ended nothing', async () => {
  const { kinds, stored, begun, ends } = passes();
  kinds.goOn();
  const step = kinds.step(NEVER);
  await turn();
  let isStopped = false;
  const interrupted = kinds.interrupt().then(() => (isStopped = true));
  await turn();
  expect([begun[0]!.aborted, isStopped]).toEqual([true, false]);
  ends[0]!();
  await Promise.all([step, interrupted]);
  expect(stored[0]).not.toHaveProperty('since');
});

it('an interruption does not wait for the indexes, which the server goes on building', async () => {
  const { kinds, stored } = passes(() => new Promise(() => undefined));
  kinds.goOn();
  const step = kinds.step(NEVER);
  await turn();
  await Promise.all([kinds.interrupt(), step]);
  expect(stored).toEqual([]);
});

it('no pass begins before the term has its stream: what is deleted between the two would be told by none', async () => {
  const { kinds, begun, ends } = passes();
  const stepped = async () => {
    void kinds.step(NEVER);
    await turn();
  };
  await stepped();
  expect(begun).toEqual([]);
  kinds.goOn();
  await kinds.interrupt();
  await stepped();
  expect(begun).toEqual([]);
  kinds.goOn();
  const step = kinds.step(NEVER);
  await turn();
  expect(begun).toHaveLength(1);
  ends[0]!();
  await step;
});

it('a kind whose end of the pass cannot be stored is passed over again', async () => {
  const { kinds, stored, ends, failures } = passes();
  kinds.goOn();
  const step = kinds.step(NEVER);
  await turn();
  failures.push(new Error('no answer'));
  ends[0]!();
  await expect(step).rejects.toThrow('no answer');
  expect(kinds.ready()).not.toContain('order');
  const again = kinds.step(NEVER);
  await turn();
  ends[1]!();
  await again;
  expect(stored[0]).toMatchObject({ kind: 'order', since: NOW });
});

it('a collection that is lost while a pass reads it is read again', async () => {
  const { kinds, stored, ends } = passes();
  kinds.goOn();
  const step = kinds.step(NEVER);
  await turn();
  await kinds.lose('order', placeAfter(new mongo.Timestamp({ t: 8, i: 1 })));
  ends[0]!();
  await step;
  expect(stored[0]).not.toHaveProperty('since');
  expect(kinds.ready()).not.toContain('order');
});

it.each(Array.from({ length: 24 }, (_, turns) => turns))(
  'a collection that is lost while the end of its pass is stored is read again (%i turns later)',
  async (turns) => {
    const { kinds, ends } = passes();
    kinds.goOn();
    const step = kinds.step(NEVER);
    await turn();
    ends[0]!();
    for (let left = turns; left > 0; left -= 1) await Promise.resolve();
    await Promise.all([step, kinds.lose('order', placeAfter(new mongo.Timestamp({ t: 8, i: 1 })))]);
    expect(kinds.ready()).not.toContain('order');
  },
);

it('a kind with few records does not wait for one with many', async () => {
  const others = { _id: new mongo.ObjectId(), name: 'price', collection: 'prices' };
  replaceKinds(kindsIn([DOCUMENT, others]));
  const { kinds, stored, ends } = passes();
  kinds.goOn();
  const step = kinds.step(NEVER);
  await turn();
  expect(stored.map(({ kind }) => kind)).toEqual(['price']);
  ends[0]!();
  await turn();
  expect(kinds.ready()).toContain('price');
  expect(kinds.ready()).not.toContain('order');
  ends[1]!();
  await step;
});

it('a kind whose records cannot be counted does not keep others from their passes', async () => {
  const odd = { _id: new mongo.ObjectId(), name: 'odd', collection: 'odd' };
  replaceKinds(kindsIn([DOCUMENT, odd]));
  const { kinds, ends } = passes();
  kinds.goOn();
  const step = kinds.step(NEVER);
  await turn();
  ends[0]!();
  await expect(step).rejects.toThrow('no estimate');
  expect(kinds.ready()).toContain('order');
  expect(kinds.ready()).not.toContain('odd');
});
