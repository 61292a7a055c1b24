import { mongo } from 'mongoose';
import { placeAfter } from '../../../../../src/replication/protocol/index.js';
import { ForeignIdCount } from '../../../../../src/replication/watcher/repair/foreign-ids.js';

const at = (t: number) => new mongo.Timestamp({ t, i: 1 });
/** One change of the transaction that committed then. */
const place = (t: number, change = 0) => placeAfter(at(t)).replace('~', `_${change}`);
const taken =
  (t: number, count: number, meanwhile: () => void = () => undefined) =>
  () => {
    meanwhile();
    return Promise.resolve({ at: at(t), count });
  };

let strangers: ForeignIdCount;
beforeEach(() => (strangers = new ForeignIdCount()));

it('what comes and goes moves the count, which is never below 0', () => {
  strangers.move(place(1), 1);
  strangers.move(place(2), 1);
  strangers.move(place(3), -1);
  expect(strangers.count).toBe(1);
  strangers.move(place(4), -1);
  strangers.move(place(5), -1);
  expect(strangers.count).toBe(0);
});

it('changes of one transaction count each', () => {
  strangers.move(place(1, 0), 1);
  strangers.move(place(1, 1), 1);
  expect(strangers.count).toBe(2);
});

it('what is told once more, since it could not be worked through, counts once', () => {
  for (const one of [place(1, 0), place(1, 1), place(1, 0), place(1, 1)]) strangers.move(one, 1);
  expect(strangers.count).toBe(2);
});

it('what was counted before it is told counts once', async () => {
  await strangers.recount(taken(5, 3));
  strangers.move(place(4), 1);
  strangers.move(place(6), 1);
  expect(strangers.count).toBe(4);
});

it('what is told while it is counted is added where it is later', async () => {
  const meanwhile = () => {
    strangers.move(place(4), 1);
    strangers.move(place(6), 1);
  };
  await strangers.recount(taken(5, 3, meanwhile));
  expect(strangers.count).toBe(4);
});

it('a count that ends after a later one changes nothing', async () => {
  const { promise, resolve } = withResolvers();
  const old = strangers.recount(() => promise);
  await strangers.recount(taken(9, 7));
  resolve({ at: at(5), count: 3 });
  await old;
  expect(strangers.count).toBe(7);
  strangers.move(place(8), 1);
  expect(strangers.count).toBe(7);
});

it('a count that fails changes nothing', async () => {
  strangers.move(place(1), 1);
  await expect(strangers.recount(() => Promise.reject(new Error('too slow')))).rejects.toThrow('too slow');
  expect(strangers.count).toBe(1);
});

function withResolvers() {
  let resolve: (counted: { at: mongo.Timestamp; count: number }) => void = () => undefined;
  const promise = new Promise<{ at: mongo.Timestamp; count: number }>((settle) => (resolve = settle));
  return { promise, resolve };
}
