import { mongo, type Connection } from 'mongoose';
import { RecordsHeldError } from '../../../../../src/record/index.js';
import { TermLife } from '../../../../../src/replication/store/index.js';
import type { ReadVersion } from '../../../../../src/replication/store/filter-versions.js';
import { EditedRecords } from '../../../../../src/replication/watcher/filters/edited-records.js';

const ids = [new mongo.ObjectId(), new mongo.ObjectId(), new mongo.ObjectId()];
const HELD = ids[1]!;

/** Stamps three records. A transaction holds the second one for this number of attempts. */
async function stamping(attempts: number, longestHeldMs: number) {
  const stamped: mongo.ObjectId[] = [];
  const setAside: unknown[] = [];
  const ranges = [[{ count: ids.length, end: ids[2]! }], []];
  const found = ids.map((_id) => ({ _id }));
  const connection = {
    collection: () => ({
      aggregate: () => ({ toArray: () => Promise.resolve(ranges.shift()) }),
      find: () => ({ toArray: () => Promise.resolve(found) }),
    }),
  } as unknown as Connection;
  let left = attempts;
  const restamps = {
    records: (_kind: string, some: mongo.ObjectId[]) => {
      const isHeld = some.includes(HELD) && left-- > 0;
      const written = isHeld ? some.filter((id) => id !== HELD) : some;
      stamped.push(...written);
      return isHeld
        ? Promise.reject(new RecordsHeldError([HELD]))
        : Promise.resolve({ stamped: written.length, setAside: 0 });
    },
  };
  const workedThrough = { now: () => Promise.resolve({ at: new mongo.Timestamp({ t: 7, i: 1 }) }) };
  const quarantine = { setAsideRefused: (some: unknown[]) => Promise.resolve(setAside.push(...some)) };
  const parts = [connection, restamps, workedThrough, {}, {}, quarantine] as unknown as ConstructorParameters<
    typeof EditedRecords
  >;
  const records = new EditedRecords(...parts);
  Object.assign(records, { longestHeldMs, betweenAttemptsMs: 1 });
  const edit = { filter: { 'data.n': 1 }, previous: { 'data.n': 2 } };
  const entry = { organizationid: 'acme', appid: 'shop', kind: 'product', name: 'web', ...edit };
  const term = new TermLife();
  const result = await records.restamp(entry as unknown as ReadVersion, { term, stop: term.signal });
  return { result, stamped, setAside };
}

it('a stamping waits for a record that a transaction holds, and stamps no other record again', async () => {
  const { result, stamped, setAside } = await stamping(3, 60_000);
  expect(stamped).toEqual([ids[0], ids[2], HELD]);
  expect(result).toEqual({ stamped: 3, setAside: 0 });
  expect(setAside).toEqual([]);
});

it('a record that is held for too long is set aside, and the stamping goes on', async () => {
  const { result, stamped, setAside } = await stamping(Infinity, 0);
  expect(stamped).toEqual([ids[0], ids[2]]);
  expect(result).toEqual({ stamped: 2, setAside: 1 });
  expect(setAside).toMatchObject([
    { concern: { what: 'record', kind: 'product', owner: HELD }, what: 'stamp' },
  ]);
});
