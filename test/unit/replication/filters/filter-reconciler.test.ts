import type { Connection } from 'mongoose';
import type { ServiceKey } from '../../../../src/application/index.js';
import type { EditedRecords } from '../../../../src/replication/filters/edited-records.js';
import { FilterReconciler } from '../../../../src/replication/filters/filter-reconciler.js';
import type { FilterVersions } from '../../../../src/replication/filters/filter-versions.js';
import type { WantedServices } from '../../../../src/replication/filters/wanted-services.js';
import { NO_TERM } from '../../../../src/replication/progress/index.js';

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
  );
  jest.spyOn(reconciler['log'], 'error').mockImplementation(() => undefined);
  const done = await reconciler.reconcile(keys, { beyond: new Set() }, NO_TERM);
  expect(done.map(({ key, version }) => [key.name, version])).toEqual(
    keys.map(({ name }) => [name, undefined]),
  );
  expect(reconciler.failed()).toHaveLength(1000);
});
