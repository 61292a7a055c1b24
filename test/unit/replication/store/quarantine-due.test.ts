import { mongo } from 'mongoose';
import { Quarantine } from '../../../../src/replication/store/quarantine.js';

type Parts = ConstructorParameters<typeof Quarantine>;

const CLOCK = new Date('2026-11-20T10:00:00.000Z');
const MINUTE = 60_000;

/** Which entries are due, of those with these times, in minutes from now. */
async function due(...minutes: number[]): Promise<number[]> {
  const entries = minutes.map((after) => ({
    _id: { what: 'record', kind: 'product', owner: new mongo.ObjectId() },
    due: new Date(CLOCK.getTime() + after * MINUTE),
  }));
  const collection = { find: () => ({ toArray: () => Promise.resolve(entries) }) };
  const metrics = { refusedWrites: { inc: () => undefined } };
  const parts = [{ collection }, {}, metrics] as unknown as Parts;
  const found = await new Quarantine(...parts).due(CLOCK, 500);
  return found.map((one) => (one.due.getTime() - CLOCK.getTime()) / MINUTE);
}

it('entries are due whose time has come', async () => {
  expect(await due(-10, 0, 1, 5)).toEqual([-10, 0]);
});

it('entries are due at once whose time was set by a clock that was ahead', async () => {
  expect(await due(0, 5, 6, 60 * 24)).toEqual([0, 6, 60 * 24]);
});
