import fc from 'fast-check';
import { mongo } from 'mongoose';
import { placeAfter, placeOf } from '../../../../src/replication/protocol/index.js';

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const times = fc.record({ t: uint32, i: uint32 }).map((time) => new mongo.Timestamp(time));

/** A token of MongoDB 6.0: the number in the transaction follows the time, version and type. */
const token = (at: string, number: string) => ({
  _data: `82${at}2B022C0100${number}6E5A1004${'A'.repeat(32)}`,
});

it('places sort as cluster times do', () => {
  fc.assert(
    fc.property(times, times, (one, other) => {
      expect(placeAfter(one) < placeAfter(other)).toBe(one.compare(other) < 0);
    }),
  );
});

it('within a transaction as its changes do, however many there are, and before what is behind all of them', () => {
  const at = new mongo.Timestamp({ t: 0x65a1b2c3, i: 10 });
  const numbers = ['29', '2B02', '2BFE', '2C0100', '2CFFFE', '2D010000'];
  const places = numbers.map((number) => placeOf(token('65A1B2C30000000A', number)));
  const before = placeAfter(new mongo.Timestamp({ t: 0x65a1b2c3, i: 9 }));
  const all = [before, ...places, placeAfter(at)];
  expect([...all].sort()).toEqual(all);
  expect(new Set(all).size).toBe(all.length);
});

it('what a token tells of names is no part of a place', () => {
  const { _data } = token('65A1B2C30000000A', '2B02');
  expect(placeOf({ _data: `${_data}46` })).toBe(placeOf({ _data }));
  expect(placeOf({ _data })).toHaveLength(40);
});
