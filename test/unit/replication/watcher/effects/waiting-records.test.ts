import { mongo } from 'mongoose';
import { RecordsHeldError } from '../../../../../src/record/index.js';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import type { PresentRecord } from '../../../../../src/replication/watcher/index.js';
import { WrittenMaintenance } from '../../../../../src/replication/watcher/effects/decision-writer.js';
import { placeAt, TENANT } from '../../protocol/written.js';

const ids = Array.from({ length: 100 }, () => new mongo.ObjectId());
const HELD = new Set(ids.slice(0, 60).map(String));

/** Repairs 100 records without an `id`. A transaction holds some of them. */
function maintenance() {
  const tried: number[] = [];
  const setAside: { owner: string; what: string }[] = [];
  const present = (stages: { $match?: { _id: { $in: mongo.ObjectId[] } } }[]) =>
    stages[0]!.$match!._id.$in.map((_id) => ({ _id, ...TENANT, id: null }));
  const connection = {
    collection: () => ({
      aggregate: (stages: object[]) => ({ toArray: () => Promise.resolve(present(stages)) }),
    }),
  };
  const repair = {
    maintain: (_kind: string, { records }: { records: PresentRecord[] }) => {
      tried.push(records.length);
      const held = records.filter(({ _id }) => HELD.has(String(_id)));
      return held.length === 0
        ? Promise.resolve([])
        : Promise.reject(new RecordsHeldError(held.map(({ _id }) => _id)));
    },
  };
  const missingIds = { next: (kind: string) => Promise.resolve(kind === 'product' ? ids : []) };
  const add = (owner: mongo.ObjectId, what: string) => setAside.push({ owner: String(owner), what });
  const quarantine = {
    setAside: ({ owner }: { owner: mongo.ObjectId }) => Promise.resolve(add(owner, 'event')),
    setAsideRefused: (refused: { concern: { owner: mongo.ObjectId }; what: string }[]) =>
      Promise.resolve(refused.forEach(({ concern, what }) => add(concern.owner, what))),
  };
  const emailReview = { review: () => Promise.resolve() };
  const parts = [connection, repair, emailReview, missingIds, quarantine] as unknown as ConstructorParameters<
    typeof WrittenMaintenance
  >;
  return { work: new WrittenMaintenance(...parts), tried, setAside };
}

it('waiting records that a transaction holds are set aside without a search', async () => {
  const { work, tried, setAside } = maintenance();
  await work.maintainWaiting(placeAt(1), NO_TERM);
  expect(tried).toEqual([100, 40]);
  expect(setAside).toEqual([...HELD].map((owner) => ({ owner, what: 'id' })));
});
