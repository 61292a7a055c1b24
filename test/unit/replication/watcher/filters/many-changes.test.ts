import { Logger } from '@nestjs/common';
import { mongo } from 'mongoose';
import type { ServiceKey } from '../../../../../src/application/index.js';
import { Metrics } from '../../../../../src/platform/observability/index.js';
import { FilterChanges } from '../../../../../src/replication/watcher/filters/filter-changes.js';
import type {
  FilterReconciler,
  KnownServices,
} from '../../../../../src/replication/watcher/filters/filter-reconciler.js';
import type { FilterVersions } from '../../../../../src/replication/store/filter-versions.js';
import type { WantedServices } from '../../../../../src/replication/watcher/filters/wanted-services.js';
import { type TermAtWork, TermLife, TermOverError } from '../../../../../src/replication/store/index.js';

beforeAll(() => void Logger.overrideLogger(false));

const NEVER = new AbortController().signal;
const IN_STREAM = 20;
const AT_ONCE = 100;
const KEY: ServiceKey = { organizationid: 'acme', appid: 'shop', kind: 'product', name: 'web' };

describe('many services that change at once', () => {
  const few = { ...KEY, appid: 'few' };

  /** Many of one application, and one of another behind them; what the reconciler does may be replaced. */
  function ofMany(keyOf = (key: ServiceKey) => key) {
    const many = Array.from({ length: 299 }, (_, place) => keyOf({ ...KEY, name: `s${place}` }));
    const keys = [...many, few];
    const documents = keys.map((key) => ({ _id: new mongo.ObjectId(), key, bytes: 100 }));
    const reconciled: ServiceKey[] = [];
    const reconciler = {
      failed: () => [],
      reconcile: jest.fn((some: ServiceKey[], _known: KnownServices, _term: TermAtWork) => {
        reconciled.push(...some);
        return Promise.resolve(some.map((key) => ({ key, version: 1, isPending: false })));
      }),
    };
    const changes = new FilterChanges(
      {
        async *named(ids: mongo.ObjectId[] = []) {
          const asked = new Set(ids.map((id) => id.toHexString()));
          yield await Promise.resolve(documents.filter(({ _id }) => asked.has(_id.toHexString())));
        },
      } as unknown as WantedServices,
      {
        async *versions() {
          yield await Promise.resolve([]);
        },
      } as unknown as FilterVersions,
      reconciler as unknown as FilterReconciler,
      new Metrics(),
    );
    const look = (term: TermAtWork, count = documents.length) =>
      changes.check(
        documents.slice(0, count).map(({ _id }) => _id),
        term,
      );
    return { changes, look, reconciler, keys, reconciled: () => reconciled.splice(0) };
  }

  it('the stream waits for the one of another application; those of the crowded one are looked at beside it, each once', async () => {
    const { changes, look, keys, reconciled } = ofMany();
    const term = new TermLife();
    await look(term);
    const first = reconciled();
    expect(first).toEqual([few]);
    for (let looks = 0; looks < keys.length / AT_ONCE; looks += 1) await changes.checkNext(term, NEVER);
    expect([...first, ...reconciled()].map(({ name }) => name).sort()).toEqual(
      keys.map(({ name }) => name).sort(),
    );
  });

  it('of many applications at once the stream waits for twenty', async () => {
    const { look, reconciled } = ofMany(({ name }) => ({ ...KEY, appid: `of-${name}`, name }));
    await look(new TermLife());
    expect(reconciled()).toHaveLength(IN_STREAM);
  });

  it('beside the stream they show no life of the term, and end with it', async () => {
    const { changes, look, reconciler } = ofMany();
    const term = new TermLife();
    await look(term);
    const showLife = jest.spyOn(term, 'showLife');
    const stop = new AbortController();
    await changes.checkNext(term, stop.signal);
    expect(showLife).not.toHaveBeenCalled();
    reconciler.reconcile.mockImplementationOnce(async (some, _known, life) => {
      stop.abort();
      life.showLife();
      return Promise.resolve(some.map((key) => ({ key, version: 1, isPending: false })));
    });
    await expect(changes.checkNext(term, stop.signal)).rejects.toThrow(TermOverError);
  });

  it('those whose look fails wait again', async () => {
    const { changes, look, reconciler, keys, reconciled } = ofMany();
    const term = new TermLife();
    await look(term);
    const first = reconciled();
    reconciler.reconcile.mockImplementationOnce(() => Promise.reject(new Error('The database is away')));
    await expect(changes.checkNext(term, NEVER)).rejects.toThrow('away');
    for (let looks = 0; looks < keys.length / AT_ONCE; looks += 1) await changes.checkNext(term, NEVER);
    expect(first.length + reconciled().length).toBe(keys.length);
  });

  it('a look waits for an earlier one at the same service, and for none at others', async () => {
    const { changes, look, reconciler, keys, reconciled } = ofMany();
    const term = new TermLife();
    await look(term);
    reconciled();
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    reconciler.reconcile.mockImplementationOnce(async (some) => {
      await ended;
      return some.map((key) => ({ key, version: 1, isPending: false }));
    });
    const held = changes.checkNext(term, NEVER);
    await changes.checkNext(term, NEVER);
    expect(reconciled()).toHaveLength(AT_ONCE);
    const same = look(term, 1);
    await changes.checkNext(term, NEVER);
    expect(reconciled()).not.toContainEqual(keys[0]);
    end();
    await held;
    await same;
    expect(reconciled()).toEqual([keys[0]]);
  });

  it('a look that waits for some begins with them', async () => {
    const { changes, look, reconciled } = ofMany();
    const term = new TermLife();
    const waiting = changes.checkNext(term, NEVER);
    await look(term);
    await waiting;
    expect(reconciled()).toEqual([few]);
    await changes.checkNext(term, NEVER);
    expect(reconciled()).toHaveLength(AT_ONCE);
  });
});
