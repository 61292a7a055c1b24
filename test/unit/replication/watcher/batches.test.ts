import { mongo } from 'mongoose';
import {
  addToCount,
  type EventsByTenant,
  type Fences,
  type WatchedEvent,
} from '../../../../src/replication/protocol/index.js';
import { NO_TERM } from '../../../../src/replication/store/index.js';
import { Batches } from '../../../../src/replication/watcher/batches.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };

/** A change of a record. */
const changed = (place: number) =>
  ({ type: 'written', kind: 'product', owner: new mongo.ObjectId(), place: String(place) }) as WatchedEvent;

/** Batches whose effects fail on some events, after they have counted all of them, as the real ones do. */
function batches(failing: WatchedEvent[]) {
  const setAside: WatchedEvent[] = [];
  const effects = {
    apply: (events: WatchedEvent[], _fences: Fences, _term: unknown, counts: EventsByTenant) => {
      addToCount(counts, { tenant: TENANT, count: events.length });
      return events.some((event) => failing.includes(event))
        ? Promise.reject(new Error('refused'))
        : Promise.resolve(new Map());
    },
  };
  const quarantine = {
    withoutFollowing: (events: WatchedEvent[]) => Promise.resolve(events),
    setAsideEvents: (events: WatchedEvent[]) => Promise.resolve(setAside.push(...events)),
  };
  const tenants = {
    of: (events: WatchedEvent[]) => Promise.resolve(new Map(events.map((one) => [one, '']))),
  };
  const tracing = { work: (_name: string, _about: object, work: () => unknown) => work() };
  const parts = [effects, quarantine, tenants, tracing] as unknown as ConstructorParameters<typeof Batches>;
  return { work: new Batches(...parts), setAside };
}

it('counts an event once, although the others of its part failed and it was tried again', async () => {
  const events = Array.from({ length: 32 }, (_, place) => changed(place));
  const { work, setAside } = batches([events[5]!]);
  const counts = await work.workThrough(events, new Map(), NO_TERM);
  expect(setAside).toEqual([events[5]]);
  expect([...counts.values()]).toEqual([{ tenant: TENANT, count: 31 }]);
});
