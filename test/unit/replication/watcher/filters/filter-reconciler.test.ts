import type { Connection } from 'mongoose';
import type { ServiceKey } from '../../../../../src/application/index.js';
import type { EditedRecords } from '../../../../../src/replication/watcher/filters/edited-records.js';
import { FilterReconciler } from '../../../../../src/replication/watcher/filters/filter-reconciler.js';
import type { HashKeys } from '../../../../../src/replication/store/filters-in-force.js';
import type { FilterVersions } from '../../../../../src/replication/store/filter-versions.js';
import type { WantedServices } from '../../../../../src/replication/watcher/filters/wanted-services.js';
import { NO_TERM } from '../../../../../src/replication/store/index.js';

const keys: ServiceKey[] = Array.from({ length: 1500 }, (_, index) => ({
  ...{ organizationid: 'acme', appid: 'shop', kind: 'product', name: `s${index}` },
}));

it('of services that cannot be brought into force it remembers a thousand, and says of each that it failed', async () => {
  const reconciler = new FilterReconciler(
    { collection: () => ({ findOne: () => Promise.resolve(null) }) } as unknown as Connection,
    {
      wishes: (some: ServiceKey[]) => Promise.resolve(some.map((key) => ({ ...key, filter: {} }))),
    } as unknown as WantedServices,
    {
      of: () => Promise.resolve([]),
      writeAll: () => Promise.resolve(false),
      write: () => Promise.reject(new Error('Something about this service')),
      invalidate: () => Promise.resolve(),
    } as unknown as FilterVersions,
    {} as EditedRecords,
    { among: () => Promise.resolve([]) } as unknown as HashKeys,
  );
  jest.spyOn(reconciler['log'], 'error').mockImplementation(() => undefined);
  const done = await reconciler.reconcile(keys, { beyond: new Set() }, NO_TERM);
  expect(done.map(({ key, version }) => [key.name, version])).toEqual(
    keys.map(({ name }) => [name, undefined]),
  );
  expect(reconciler.failed()).toHaveLength(1000);
});

it('where somebody else was quicker with one of several, that one is read again, and the others are written', async () => {
  const [one, other] = keys as [ServiceKey, ServiceKey];
  const stored = new Map([one, other].map(({ name }) => [name, 1]));
  const written: string[] = [];
  const entryOf = (key: ServiceKey) => ({
    ...key,
    state: 'off',
    pending: false,
    version: stored.get(key.name),
  });
  const reconciler = new FilterReconciler(
    { collection: () => ({ findOne: () => Promise.resolve(null) }) } as unknown as Connection,
    {
      wishes: (some: ServiceKey[]) =>
        Promise.resolve(some.map((key) => ({ ...key, filter: {}, enabled: true }))),
    } as unknown as WantedServices,
    {
      of: (some: ServiceKey[]) => Promise.resolve(some.map(entryOf)),
      writeAll: () => {
        stored.set(one.name, 5);
        return Promise.resolve(false);
      },
      write: (key: ServiceKey, entry: { version: number }, change: object) => {
        if (entry.version !== stored.get(key.name)) return Promise.resolve(undefined);
        written.push(`${key.name} in place of ${entry.version}`);
        return Promise.resolve({ ...entry, ...change });
      },
    } as unknown as FilterVersions,
    {} as EditedRecords,
    { among: () => Promise.resolve([]) } as unknown as HashKeys,
  );
  const done = await reconciler.reconcile([one, other], { beyond: new Set() }, NO_TERM);
  expect(written).toEqual(['s1 in place of 1', 's0 in place of 5']);
  expect(done.map(({ version }) => version)).toEqual([6, 2]);
});
