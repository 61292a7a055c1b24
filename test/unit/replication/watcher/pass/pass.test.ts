import { mongo } from 'mongoose';
import { Metrics, Tracing } from '../../../../../src/platform/observability/index.js';
import type { PassProgress } from '../../../../../src/replication/protocol/index.js';
import { Pass } from '../../../../../src/replication/watcher/pass/pass.js';
import { type Found, NO_TERM } from '../../../../../src/replication/store/index.js';
import type { PassStep } from '../../../../../src/replication/watcher/pass/pass-steps.js';

type Parts = ConstructorParameters<typeof Pass>;

const [FIRST, LAST] = [new mongo.ObjectId('00'.repeat(12)), new mongo.ObjectId('11'.repeat(12))];

/** A step over two documents, each a stretch of its own. */
function step(name: string, work: () => void): PassStep {
  const next = (behind: mongo.ObjectId | undefined) => {
    if (behind?.equals(LAST) === true) return Promise.resolve(undefined);
    return Promise.resolve({ behind, end: behind === undefined ? FIRST : LAST, count: 1 });
  };
  const concern = ({ end }: Found) => ({ what: 'record', kind: 'member', owner: end }) as const;
  return { name, concern, next, work: () => Promise.resolve(work()) };
}

/** Runs a pass over members and products, and gives the places that were told, each with the pace. */
async function told(work: { members: () => void; products: () => void }, stop: AbortSignal) {
  const steps = { list: () => [step('members', work.members), step('products', work.products)] };
  const [none] = [undefined as never];
  const pass = new Pass(none, none, none, steps as unknown as Parts[3], none, new Metrics(), Tracing.off);
  const places: (PassProgress['reached'] & Pick<PassProgress, 'pace'>)[] = [];
  const progress: PassProgress = { reason: 'test', isRepair: true, started: new Date(), done: 0, total: 4 };
  await pass.run({
    ...{ at: '0', progress, stop, term: NO_TERM, kinds: [], token: () => 'token' },
    keepUp: () => Promise.resolve(),
    save: ({ reached, pace }) => Promise.resolve(void places.push({ ...reached!, pace: pace! })),
  });
  return places;
}

it('a pass that is stopped tells of no step that it has not done', async () => {
  const stop = new AbortController();
  let products = 0;
  const work = { members: () => stop.abort(), products: () => (products += 1) };
  expect(await told(work, stop.signal)).toEqual([]);
  expect(products).toBe(0);
});

it('one that is not goes through all of them', async () => {
  const done: string[] = [];
  const work = { members: () => void done.push('member'), products: () => void done.push('product') };
  const places = await told(work, new AbortController().signal);
  expect(done).toEqual(['member', 'member', 'product', 'product']);
  expect(places.at(-1)).toMatchObject({ step: 'products', behind: LAST });
  expect(places[0]!.pace).toEqual({ seconds: expect.any(Number), done: 1, added: 0 });
});

it('a pass over an application whose entries cannot be counted has all of its steps', async () => {
  const records = { countDocuments: () => Promise.resolve(3), collectionName: 'products' };
  const connection = { collection: () => records };
  const slices = { countOf: () => Promise.reject(new Error('It takes too long')) };
  const parts = [
    connection,
    undefined,
    slices,
    undefined,
    undefined,
    new Metrics(),
    Tracing.off,
  ] as unknown as Parts;
  const bare = { reason: 'test', isRepair: false, isBare: true, started: new Date(), done: 0, total: 0 };
  const progress = await new Pass(...parts).prepareOwn({ organizationid: 'acme', appid: 'shop' }, bare);
  expect(progress.isBare).toBe(false);
});
