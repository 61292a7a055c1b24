import { Logger } from '@nestjs/common';
import { mongo } from 'mongoose';
import type { ServiceKey } from '../../../../../src/application/index.js';
import { ALL } from '../../../../../src/replication/protocol/index.js';
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
const AGAIN_MS = 20_000;
const IN_STREAM = 20;
const AT_ONCE = 100;

/** The next look beside the stream, once all versions are read again. */
async function lookAgain(changes: FilterChanges, term: TermAtWork): Promise<void> {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + AGAIN_MS);
  try {
    await changes.checkNext(term, NEVER);
  } finally {
    clock.mockRestore();
  }
}

const KEY: ServiceKey = { organizationid: 'acme', appid: 'shop', kind: 'product', name: 'web' };

/** The changes of a service whose document may go, with the versions of two, and the names that were reconciled. */
function ofOneService() {
  const _id = new mongo.ObjectId();
  const documents = new Map([[_id.toHexString(), { _id, key: KEY, bytes: 100 }]]);
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
      return Promise.resolve(keys.map((key) => ({ key, version: 1, stampingMs: 0 })));
    },
  };
  const changes = new FilterChanges(
    wanted as unknown as WantedServices,
    entries as unknown as FilterVersions,
    reconciler as unknown as FilterReconciler,
    new Metrics(),
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
  await changes.checkAll(term);
  expect(reconciled().sort()).toEqual(['other', KEY.name]);
  await changes.check(remove(), term);
  expect(reconciled()).toEqual([KEY.name]);
});

it('a part of a term knows what the term knows', async () => {
  const { changes, remove, reconciled } = ofOneService();
  const term = new TermLife();
  await changes.checkAll(term);
  reconciled();
  const part = () => ({ share: { but: [KEY] }, whole: term, showLife: () => term.showLife() });
  await changes.check([], part());
  await changes.check(remove(), part());
  expect(reconciled()).toEqual([KEY.name]);
});

it('a term that was given up, and is late, takes nothing from the next one', async () => {
  const { changes, remove, reconciled } = ofOneService();
  const [late, term] = [new TermLife(), new TermLife()];
  await changes.checkAll(term);
  reconciled();
  late.end();
  await expect(changes.checkAll(late)).rejects.toThrow(TermOverError);
  await changes.check(remove(), term);
  expect(reconciled()).toEqual([KEY.name]);
});

describe('the services of one application', () => {
  const busy = { ...KEY, appid: 'busy' };

  /** Services that are brought into force by a reconciler that says what came of each. */
  function ofServices(
    outcome: (key: ServiceKey) => { version: number | undefined },
    failed: ServiceKey[] = [],
  ) {
    const documents = [KEY, busy].map((key) => ({ _id: new mongo.ObjectId(), key, bytes: 100 }));
    const reconciled: string[] = [];
    const changes = new FilterChanges(
      {
        async *named(ids?: mongo.ObjectId[]) {
          const isAsked = ({ _id }: { _id: mongo.ObjectId }) => ids?.some((id) => id.equals(_id)) ?? true;
          yield await Promise.resolve(documents.filter(isAsked));
        },
      } as unknown as WantedServices,
      {
        async *versions() {
          yield await Promise.resolve([KEY, busy].map((key) => ({ ...key, version: 1 })));
        },
      } as unknown as FilterVersions,
      {
        failed: () => failed,
        reconcile: (keys: ServiceKey[]) => {
          reconciled.push(...keys.map(({ appid }) => appid));
          return Promise.resolve(keys.map((key) => ({ key, ...outcome(key) })));
        },
      } as unknown as FilterReconciler,
      new Metrics(),
    );
    const [id, idOfBusy] = documents.map(({ _id }) => _id);
    return { changes, id: id!, idOfBusy: idOfBusy!, reconciled: () => reconciled.splice(0).sort() };
  }

  it('that failed are looked at again with all versions, and not with each change of another one', async () => {
    const failed = Array.from({ length: 1000 }, (_, place) => ({ ...busy, name: `failed-${place}` }));
    const { changes, id, reconciled } = ofServices(() => ({ version: 1 }), failed);
    const term = new TermLife();
    await changes.checkAll(term);
    reconciled();
    await changes.check([id], term);
    expect(reconciled()).toEqual([KEY.appid]);
    await lookAgain(changes, term);
    for (let looks = 1; looks < failed.length / AT_ONCE; looks += 1) await changes.checkNext(term, NEVER);
    expect(reconciled()).toEqual(failed.map(({ appid }) => appid));
  });

  it('that failed are looked at again with a change of their application, a few at a time', async () => {
    const failed = Array.from({ length: 1000 }, (_, place) => ({ ...KEY, name: `failed-${place}` }));
    const { changes, id, reconciled } = ofServices(() => ({ version: 1 }), failed);
    const term = new TermLife();
    await changes.checkAll(term);
    reconciled();
    await changes.check([id], term);
    expect(reconciled()).toHaveLength(IN_STREAM);
  });

  it('are looked at again with all versions where they could not be brought into force', async () => {
    const { changes, reconciled } = ofServices(({ appid }) => ({
      version: appid === 'busy' ? undefined : 1,
    }));
    const term = new TermLife();
    await changes.checkAll(term);
    reconciled();
    await lookAgain(changes, term);
    expect(reconciled()).toEqual(['busy']);
  });
});

describe('edited services', () => {
  const other = { ...KEY, name: 'other' };
  const elsewhere = { ...KEY, appid: 'elsewhere' };

  /** Three services that are pending; their stampings end when they are told to. */
  async function ofPending() {
    const keys = [KEY, other, elsewhere];
    const stamping: string[] = [];
    const failed: string[] = [];
    const looks: [string[], number | undefined][] = [];
    let given: TermAtWork | undefined;
    const endings = new Map<string, (version: number | Error | false) => void>();
    const nameOf = ({ appid, name }: ServiceKey) => `${appid} ${name}`;
    const changes = new FilterChanges(
      {
        async *named() {
          yield await Promise.resolve([]);
        },
      } as unknown as WantedServices,
      {
        async *versions() {
          yield await Promise.resolve(keys.map((key) => ({ ...key, version: 1 })));
        },
        countFailure: (key: ServiceKey) => Promise.resolve(void failed.push(nameOf(key))),
      } as unknown as FilterVersions,
      {
        failed: () => [],
        reconcile: (some: ServiceKey[], { stamped }: KnownServices) => {
          looks.push([some.map(nameOf), stamped?.version]);
          return Promise.resolve(some.map((key) => ({ key, version: 1, isPending: stamped === undefined })));
        },
        stamp: (key: ServiceKey, { term: beside }: { term: TermAtWork }) => {
          stamping.push(nameOf(key));
          given = beside;
          return new Promise((resolve, reject) =>
            endings.set(nameOf(key), (version) =>
              version instanceof Error ? reject(version) : resolve(version && { version }),
            ),
          );
        },
      } as unknown as FilterReconciler,
      new Metrics(),
    );
    const term = new TermLife();
    await changes.checkAll(term);
    looks.splice(0);
    const next = (stop = NEVER) => changes.stampNext(term, stop, ALL);
    const during = () => given!;
    const end = (name: string, version: number | Error | false) => endings.get(name)!(version);
    return { changes, term, next, end, during, stamping, failed, looks };
  }

  it('are stamped one of each application at a time, and looked at again with the version that is stamped', async () => {
    const { next, end, stamping, looks } = await ofPending();
    const [first, second, third] = [next(), next(), next()];
    expect(stamping).toEqual(['shop web', 'elsewhere web']);
    end('shop web', 1);
    await first;
    await third;
    expect(looks).toEqual([[['shop web'], 1]]);
    void next();
    expect(stamping).toEqual(['shop web', 'elsewhere web', 'shop other']);
    end('elsewhere web', 1);
    await second;
  });

  it('whose records cannot be stamped are left to the next look at what failed', async () => {
    const { next, end, stamping, failed, looks } = await ofPending();
    const first = next();
    end('shop web', false);
    await first;
    expect([looks, failed]).toEqual([[], ['shop web']]);
    void next();
    void next();
    expect(stamping).toEqual(['shop web', 'elsewhere web', 'shop other']);
  });

  it('whose stamping fails keep no other waiting, and are taken again after the next look at all versions', async () => {
    const { changes, term, next, end, stamping, failed, looks } = await ofPending();
    const first = next();
    end('shop web', new Error('The database is away'));
    expect([await first, failed]).toEqual([false, ['shop web']]);
    void next();
    void next();
    end('shop other', 1);
    end('elsewhere web', 1);
    await new Promise(setImmediate);
    void next();
    expect(stamping).toEqual(['shop web', 'elsewhere web', 'shop other']);
    looks.splice(0);
    await lookAgain(changes, term);
    expect(looks).toEqual([[['shop web'], undefined]]);
    void next();
    expect(stamping.at(-1)).toBe('shop web');
  });

  it('show no life of the term while they are stamped, and end with it', async () => {
    const { term, next, end, during } = await ofPending();
    const showLife = jest.spyOn(term, 'showLife');
    const stop = new AbortController();
    const first = next(stop.signal);
    during().showLife();
    end('shop web', 1);
    expect(await first).toBe(true);
    expect(showLife).not.toHaveBeenCalled();
    void next(stop.signal);
    stop.abort();
    expect(() => during().showLife()).toThrow(TermOverError);
  });

  it('whose stamping hangs are left, and taken again after the next look at all versions', async () => {
    const { changes, term, next, end, during, stamping } = await ofPending();
    Object.assign(changes, { longestSilenceMs: 1 });
    expect(await next()).toBe(false);
    expect(() => during().showLife()).toThrow(TermOverError);
    await lookAgain(changes, term);
    Object.assign(changes, { longestSilenceMs: 1000 });
    for (const name of ['elsewhere web', 'shop other', 'shop web']) {
      const stamped = next();
      expect(stamping.at(-1)).toBe(name);
      during().showLife();
      end(name, 1);
      await stamped;
    }
  });
});
