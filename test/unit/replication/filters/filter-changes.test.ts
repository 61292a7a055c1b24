import { mongo } from 'mongoose';
import type { ServiceKey } from '../../../../src/application/index.js';
import { FilterChanges } from '../../../../src/replication/filters/filter-changes.js';
import type { FilterReconciler } from '../../../../src/replication/filters/filter-reconciler.js';
import type { FilterVersions } from '../../../../src/replication/filters/filter-versions.js';
import type { WantedServices } from '../../../../src/replication/filters/wanted-services.js';
import { TermLife, TermOverError } from '../../../../src/replication/progress/index.js';

const KEY: ServiceKey = { organizationid: 'acme', appid: 'shop', kind: 'product', name: 'web' };

/** The changes of a service whose document may go, with the versions of two, and the names that were reconciled. */
function ofOneService() {
  const _id = new mongo.ObjectId();
  const documents = new Map([[_id.toHexString(), { _id, key: KEY }]]);
  const reconciled: string[] = [];
  const wanted = {
    async *named(ids?: mongo.ObjectId[]) {
      const hexes = ids?.map((id) => id.toHexString()) ?? [...documents.keys()];
      yield await Promise.resolve(hexes.flatMap((hex) => documents.get(hex) ?? []));
    },
  };
  const entries = {
    async *versions() {
      yield await Promise.resolve([{ ...KEY, name: 'other', version: 1 }]);
      yield await Promise.resolve([{ ...KEY, version: 1 }]);
    },
  };
  const reconciler = {
    failed: () => [],
    reconcile: (keys: ServiceKey[]) => {
      reconciled.push(...keys.map(({ name }) => name));
      return Promise.resolve(keys.map((key) => ({ key, version: 1 })));
    },
  };
  const changes = new FilterChanges(
    wanted as unknown as WantedServices,
    entries as unknown as FilterVersions,
    reconciler as unknown as FilterReconciler,
  );
  const remove = () => {
    documents.clear();
    return [_id];
  };
  return { changes, remove, reconciled: () => reconciled.splice(0) };
}

it('a service whose document goes is looked at, though the event names its `_id` alone', async () => {
  const { changes, remove, reconciled } = ofOneService();
  const term = new TermLife();
  await changes.lookAtAll(term);
  expect(reconciled().sort()).toEqual(['other', KEY.name]);
  await changes.look(remove(), term);
  expect(reconciled()).toEqual([KEY.name]);
});

it('a term that was given up, and is late, takes nothing from the next one', async () => {
  const { changes, remove, reconciled } = ofOneService();
  const [late, term] = [new TermLife(), new TermLife()];
  await changes.lookAtAll(term);
  reconciled();
  late.end();
  await expect(changes.lookAtAll(late)).rejects.toThrow(TermOverError);
  await changes.look(remove(), term);
  expect(reconciled()).toEqual([KEY.name]);
});
