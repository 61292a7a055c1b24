import mongoose from 'mongoose';
import { Metrics } from '../../../../src/platform/observability/index.js';
import { Totals } from '../../../../src/replication/store/index.js';

const { mongo } = mongoose;

interface Written {
  $inc: Record<string, number>;
}

/** Totals whose writes end as the test says. */
function totals() {
  const metrics = new Metrics();
  const written: Written[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const updateOne = (_which: object, update: Written) => {
    written.push(update);
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  const connection = { collection: () => ({ updateOne }) };
  return {
    metrics,
    written,
    ends,
    all: new Totals(...([connection, metrics] as unknown as ConstructorParameters<typeof Totals>)),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const late = ({ $inc }: Written) => $inc['restamps.late'];

it('counts that are being written are not written again', async () => {
  const { metrics, written, ends, all } = totals();
  metrics.restamps.inc({ reason: 'late' }, 3);
  const first = all.store();
  await turn();
  metrics.restamps.inc({ reason: 'late' }, 2);
  const second = all.store();
  await turn();
  expect(written.map(late)).toEqual([3]);
  ends[0]!.resolve();
  await first;
  await turn();
  ends[1]!.resolve();
  await second;
  expect(written.map(late)).toEqual([3, 2]);
});

it('counts that only the majority has not confirmed are written; those of a failed write are added the next time', async () => {
  const { metrics, written, ends, all } = totals();
  const stored = async (end: () => void) => {
    const storing = all.store();
    await turn();
    end();
    await storing.catch(() => undefined);
  };
  metrics.restamps.inc({ reason: 'late' }, 3);
  const reply = { ok: 1, n: 1, writeConcernError: { code: 50, errmsg: 'operation exceeded time limit' } };
  await stored(() => ends[0]!.reject(new mongo.MongoWriteConcernError(reply)));
  metrics.restamps.inc({ reason: 'late' }, 2);
  await stored(() => ends[1]!.reject(new Error('no answer')));
  await stored(() => ends[2]!.resolve());
  expect(written.map(late)).toEqual([3, 2, 2]);
});
