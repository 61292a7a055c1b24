import { mongo } from 'mongoose';
import type { ControlChange, ControlStream } from '../../../../src/control/index.js';
import { WatchedPlace } from '../../../../src/replication/progress/watched-place.js';

const [EARLY, LATE] = [1, 2].map((t) => new mongo.Timestamp({ t, i: 0 })) as [
  mongo.Timestamp,
  mongo.Timestamp,
];

/** What the database says while the stream says nothing. */
let stored: unknown;
let place: WatchedPlace;
let left: AbortController;
beforeEach(() => {
  stored = undefined;
  left = new AbortController();
  const states = { findOne: () => ({ lean: () => Promise.resolve({ watched: stored }) }) };
  const control = { isCurrent: true, follow: () => undefined };
  place = new WatchedPlace(states as never, control as unknown as ControlStream);
});
afterEach(() => left.abort());

const told = (watched: unknown, id = 'watcher'): ControlChange => ({
  ...{ id, what: 'update', removed: [] },
  fields: { watched },
});
const isReached = async () => {
  let reached = false;
  void place.reached(LATE, left.signal).then((is) => (reached = is));
  await new Promise(setImmediate);
  return reached;
};

it('a place is reached once the stream has told so', async () => {
  place.hear(told(EARLY));
  expect(await isReached()).toBe(false);
  place.hear(told(LATE));
  expect(await place.reached(LATE, left.signal)).toBe(true);
});

it.each<[string, ControlChange]>([
  ['of a document that is not the lease', told(LATE, 'copy')],
  ['that is no cluster time', told('soon')],
])('what the stream tells %s does not count', async (_what, change) => {
  place.hear(change);
  expect(await isReached()).toBe(false);
});

it('nor does such a thing in the database', async () => {
  stored = 'soon';
  const reached = place.reached(LATE, left.signal);
  setTimeout(() => (stored = LATE), 10);
  expect(await reached).toBe(true);
});
