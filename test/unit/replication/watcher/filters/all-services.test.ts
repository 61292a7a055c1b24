import { Logger } from '@nestjs/common';
import { mongo } from 'mongoose';
import { MOST_SERVICES, type ServiceKey } from '../../../../../src/application/index.js';
import { ALL } from '../../../../../src/replication/protocol/index.js';
import { Metrics } from '../../../../../src/platform/observability/index.js';
import { FilterChanges } from '../../../../../src/replication/watcher/filters/filter-changes.js';
import type {
  FilterReconciler,
  KnownServices,
} from '../../../../../src/replication/watcher/filters/filter-reconciler.js';
import type { FilterVersions } from '../../../../../src/replication/store/filter-versions.js';
import type { WantedServices } from '../../../../../src/replication/watcher/filters/wanted-services.js';
import { TermLife } from '../../../../../src/replication/store/index.js';

beforeAll(() => void Logger.overrideLogger(false));

const NEVER = new AbortController().signal;
const AGAIN_MS = 20_000;
const AT_ONCE = 100;
const IN_STREAM = 20;
const KEY: ServiceKey = { organizationid: 'acme', appid: 'shop', kind: 'product', name: 'web' };

/** So many services of one application, none of which has an entry, and a reconciler that is told what comes of each. */
function ofServices(count: number, outcome: { version?: number; isPending: boolean }) {
  const documents = Array.from({ length: count }, (_, place) => ({
    _id: new mongo.ObjectId(place.toString(16).padStart(24, '0')),
    key: { ...KEY, name: `s${place}` },
    bytes: 100,
  }));
  const failed: ServiceKey[] = [];
  const looks: { names: string[]; beyond: number }[] = [];
  const reading = { gate: Promise.resolve() };
  const trouble: Error[] = [];
  const changes = new FilterChanges(
    {
      async *named(ids?: mongo.ObjectId[]) {
        await reading.gate;
        yield documents.filter(({ _id }) => ids?.some((id) => id.equals(_id)) ?? true);
      },
    } as unknown as WantedServices,
    {
      async *versions() {
        yield await Promise.resolve([]);
      },
    } as unknown as FilterVersions,
    {
      failed: () => failed,
      reconcile: (keys: ServiceKey[], { beyond }: KnownServices) => {
        const error = trouble.pop();
        if (error !== undefined) return Promise.reject(error);
        looks.push({ names: keys.map(({ name }) => name), beyond: beyond.size });
        return Promise.resolve(keys.map((key) => ({ key, version: undefined, ...outcome })));
      },
      stamp: () => Promise.resolve(undefined),
    } as unknown as FilterReconciler,
    new Metrics(),
  );
  return { changes, documents, failed, reading, trouble, looks: () => looks.splice(0) };
}

it('however often all services are looked at, those at the end of the queue come to their turn', async () => {
  const { changes, looks } = ofServices(3 * AT_ONCE, { version: 1, isPending: false });
  const term = new TermLife();
  for (let round = 0; round < 3; round += 1) {
    await changes.check(undefined, term);
    await changes.checkNext(term, NEVER);
  }
  expect(new Set(looks().flatMap(({ names }) => names)).size).toBe(3 * AT_ONCE);
});

it('while all services are read, those beyond the limits are known as before', async () => {
  const { changes, reading, looks } = ofServices(MOST_SERVICES + 1, { version: 1, isPending: true });
  const term = new TermLife();
  await changes.checkAll(term);
  expect(looks().reduce((sum, { beyond }) => sum + beyond, 0)).toBe(1);
  let release!: () => void;
  reading.gate = new Promise((resolve) => (release = resolve));
  const look = changes.check(undefined, term);
  await new Promise(setImmediate);
  for (let stamped = 0; stamped <= MOST_SERVICES; stamped += 1) await changes.stampNext(term, NEVER, ALL);
  expect(looks().reduce((sum, { beyond }) => sum + beyond, 0)).toBe(1);
  release();
  await look;
});

it('services that could not be brought into force and have no entry are looked at again, however many there are', async () => {
  const { changes, looks } = ofServices(3 * AT_ONCE, { isPending: false });
  const term = new TermLife();
  await changes.checkAll(term);
  looks();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + AGAIN_MS);
  await changes.checkNext(term, NEVER);
  clock.mockRestore();
  for (let round = 1; round < 3; round += 1) await changes.checkNext(term, NEVER);
  expect(new Set(looks().flatMap(({ names }) => names)).size).toBe(3 * AT_ONCE);
});

it('a failed service that an event names is looked at once', async () => {
  const { changes, documents, failed, looks } = ofServices(IN_STREAM, { version: 1, isPending: false });
  const term = new TermLife();
  await changes.checkAll(term);
  looks();
  failed.push(...documents.slice(0, 2).map(({ key }) => key));
  await changes.check([documents[0]!._id], term);
  expect(looks().map(({ names }) => names)).toEqual([['s0', 's1']]);
});

it('a service whose document is gone is looked at beside the stream where the look of the event fails', async () => {
  const { changes, documents, trouble, looks } = ofServices(2, { version: 1, isPending: false });
  const term = new TermLife();
  await changes.checkAll(term);
  looks();
  const { _id } = documents.shift()!;
  trouble.push(new Error('Something about this batch'));
  await expect(changes.check([_id], term)).rejects.toThrow('this batch');
  await changes.check([_id], term);
  const stop = new AbortController();
  const next = changes.checkNext(term, stop.signal);
  await new Promise(setImmediate);
  stop.abort();
  await next;
  expect(looks().map(({ names }) => names)).toEqual([['s0']]);
});
