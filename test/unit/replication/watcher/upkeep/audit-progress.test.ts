import { mongo } from 'mongoose';
import { afterSlice, firstRound } from '../../../../../src/replication/watcher/upkeep/audit.js';

const BEGAN = new Date('2026-03-01T00:00:00.000Z');
const after = (seconds: number) => new Date(BEGAN.getTime() + seconds * 1000);
const end = new mongo.ObjectId();

it('begins with the members', () => {
  expect(firstRound(BEGAN)).toMatchObject({ kind: 'member', behind: null, round: 1, slices: 0, found: 0 });
});

it('goes on behind the slice', () => {
  const next = afterSlice(firstRound(BEGAN), { end, found: 2, expected: 10, clock: after(3) });
  expect(next).toMatchObject({ kind: 'member', behind: end, round: 1, slices: 1, started: BEGAN, found: 2 });
});

it('tells how long the round is going to take', () => {
  const first = afterSlice(firstRound(BEGAN), { end, found: 0, expected: 10, clock: after(3) });
  expect(first.roundSeconds).toBe(30);
  const second = afterSlice(first, { end, found: 0, expected: 10, clock: after(10) });
  expect(second.roundSeconds).toBe(50);
});

it('never less than it has taken', () => {
  const progress = { ...firstRound(BEGAN), slices: 20 };
  const next = afterSlice(progress, { end, found: 0, expected: 10, clock: after(42) });
  expect(next.roundSeconds).toBe(42);
});

it('goes on with the products, then with the next round', () => {
  const last = { end: undefined, found: 1, expected: 2 };
  const products = afterSlice(firstRound(BEGAN), { ...last, clock: after(4) });
  expect(products).toMatchObject({ kind: 'product', behind: null, round: 1, slices: 1, started: BEGAN });
  const round = afterSlice(products, { ...last, clock: after(9) });
  expect(round).toMatchObject({ kind: 'member', behind: null, round: 2, slices: 0, found: 2 });
  expect(round).toMatchObject({ started: after(9), lastRoundSeconds: 9, roundSeconds: 9 });
});
