import fc from 'fast-check';
import { Harvester, OtherFeedError, SourceRestoredError } from '../../../client/src/harvest/index.js';
import { MemoryCopy } from './memory-copy.js';
import { SimulatedService } from './simulated-service.js';

const LIMIT = 2;
const ids = (count: number) => Array.from({ length: count }, (_, n) => `r${n}`);

let service: SimulatedService;
let copy: MemoryCopy;
let harvester: Harvester;
beforeEach(() => {
  service = new SimulatedService();
  copy = new MemoryCopy();
  harvester = new Harvester(service, copy, LIMIT);
  ids(5).forEach((id) => service.write(id));
});

const inCopy = () => [...copy.records].map(([id, { lastupdated }]) => [id, lastupdated]).sort();
const inSource = () => [...service.alive].sort();

/** The process is killed before its next write of a kind: nothing behind that happens. */
async function killedAt(step: 'apply' | 'sweep', writes: number): Promise<void> {
  let left = writes;
  copy.before = (at) => {
    if (at === step && (left -= 1) < 0) throw new Error('killed');
  };
  await new Harvester(service, copy, LIMIT)
    .harvest()
    .catch((error: Error) => expect(error.message).toBe('killed'));
  copy.before = () => undefined;
}

describe('a harvest', () => {
  it('makes an equal copy, and tells what it did', async () => {
    expect(await harvester.harvest()).toMatchObject({ pages: 3, upserts: 5, deletes: 0, starts: 0 });
    service.remove('r1');
    service.write('r2');
    expect(await harvester.harvest()).toMatchObject({ pages: 1, upserts: 1, deletes: 1 });
    expect(inCopy()).toEqual(inSource());
  });

  it('leaves deletes out where the copy is empty, and never else', async () => {
    service.remove('r4');
    await killedAt('apply', 0);
    await killedAt('apply', 1);
    await harvester.harvest();
    await harvester.harvest({ startsOver: true });
    expect(service.asked.map(({ deletes, cursor }) => deletes ?? typeof cursor)).toEqual([
      ...['skip', 'skip', 'string', 'string', 'undefined'],
      ...['undefined', 'string'],
    ]);
  });

  it('counts what a new start removes', async () => {
    await harvester.harvest();
    for (const id of ['r1', 'r4']) service.remove(id);
    service.forget();
    expect(await harvester.harvest({ startsOver: true })).toMatchObject({ starts: 1, deletes: 2 });
    expect(inCopy()).toEqual(inSource());
  });

  it('reads the next page while one is stored', async () => {
    const order: string[] = [];
    const pages = service.pages.bind(service);
    service.pages = async function* (from) {
      for await (const page of pages(from)) {
        order.push(`read ${page.result[0]!.id}`);
        yield page;
      }
    };
    copy.before = (_step, page) => order.push(`store ${page!.changes[0]!.id}`);
    await harvester.harvest();
    expect(order).toEqual(['read r0', 'read r2', 'store r0', 'read r4', 'store r2', 'store r4']);
  });

  it('is not of another feed', async () => {
    await harvester.harvest();
    const other = Object.assign(new SimulatedService(), { feed: 'acme/shop/product/tents' });
    await expect(new Harvester(other, copy).harvest()).rejects.toThrow(OtherFeedError);
  });

  it('that is aborted throws the reason, and what was stored stays', async () => {
    const reason = new Error('enough');
    const control = new AbortController();
    const onPage = () => control.abort(reason);
    await expect(harvester.harvest({ signal: control.signal, onPage })).rejects.toBe(reason);
    expect(copy.records.size).toBe(LIMIT);
    await expect(harvester.harvest({ signal: control.signal })).rejects.toBe(reason);
    await harvester.harvest();
    expect(inCopy()).toEqual(inSource());
  });

  it('goes on behind an old window until one that it has begun has ended', async () => {
    await killedAt('apply', 1);
    service.write('r0');
    service.write('r5');
    await harvester.harvest();
    expect(inCopy()).toEqual(inSource());
  });
});

describe('410: a new start over what is held', () => {
  beforeEach(async () => {
    await harvester.harvest();
    service.remove('r1');
    service.forget();
  });

  it('removes what is gone without a sign, and holds everything else all the while', async () => {
    const smallest: number[] = [];
    copy.before = () => smallest.push(copy.records.size);
    expect(await harvester.harvest()).toMatchObject({ starts: 1 });
    expect(Math.min(...smallest)).toBe(5);
    expect(inCopy()).toEqual(inSource());
  });

  it('is gone on with where it was killed', async () => {
    await killedAt('apply', 2);
    await killedAt('sweep', 0);
    expect(await harvester.harvest()).toMatchObject({ starts: 0 });
    expect(inCopy()).toEqual(inSource());
  });

  it('holds a record that changed while the new start was read, though no page of its window told it', async () => {
    await killedAt('apply', 2);
    service.write('r4');
    service.loseMoments();
    const held: boolean[] = [];
    copy.before = () => held.push(copy.records.has('r4'));
    await harvester.harvest();
    expect(new Set(held)).toEqual(new Set([true]));
    expect(inCopy()).toEqual(inSource());
  });

  it('goes on after the last id of its page, though a record before it has gone and the moment is lost', async () => {
    await killedAt('apply', 2);
    service.remove('r0');
    service.loseMoments();
    await harvester.harvest();
    expect(inCopy()).toEqual(inSource());
  });

  it('again and again is given up', async () => {
    copy.before = () => service.forget();
    await expect(harvester.harvest()).rejects.toThrow('410');
  });
});

describe('a source that was restored from an earlier copy', () => {
  const restored = async (isAnnounced: boolean) => {
    const backup = service.backUp();
    service.write('r5');
    service.write('r3');
    service.remove('r1');
    await harvester.harvest();
    service.restore(backup, { isAnnounced });
  };

  it.each([
    ['where the cursor lies ahead of what it announced', false],
    ['where it has announced a later time since', true],
  ])('is told, and nothing is removed before somebody starts over: %s', async (_name, isAnnounced) => {
    await harvester.harvest();
    await restored(isAnnounced);
    await expect(harvester.harvest()).rejects.toThrow(SourceRestoredError);
    expect(copy.records.has('r5')).toBe(true);
    service.write('r2');
    await expect(new Harvester(service, copy, LIMIT).harvest()).rejects.toThrow(SourceRestoredError);
    await harvester.harvest({ startsOver: true });
    expect(inCopy()).toEqual(inSource());
    service.write('r6');
    await harvester.harvest();
    expect(inCopy()).toEqual(inSource());
  });

  it('is told too where others have written since, and some of what was told last is told again', async () => {
    await harvester.harvest();
    await restored(true);
    for (const id of ['r0', 'r1', 'r2', 'r6']) service.write(id);
    await expect(harvester.harvest()).rejects.toThrow(SourceRestoredError);
  });

  it('is none where the record that was told last has changed, has gone, or its hard delete is not kept', async () => {
    for (const change of [
      () => service.write('r5'),
      () => service.write('r5'),
      () => service.write('r6'),
      () => service.remove('r6'),
      () => service.forget(),
    ]) {
      change();
      await harvester.harvest();
      expect(inCopy()).toEqual(inSource());
    }
  });

  it('is none where the record changes once more behind the window', async () => {
    service.write('r5');
    await harvester.harvest();
    copy.before = () => {
      service.loseMoments();
      service.write('r5');
    };
    expect(await harvester.harvest()).toMatchObject({ starts: 0 });
  });

  it('is none where the clock of a server is slow', async () => {
    service.write('r5');
    await harvester.harvest();
    service.loseMoments();
    service.slowDown(3);
    expect(await harvester.harvest()).toMatchObject({ starts: 0 });
  });

  it('costs a harvest one page of one item, and nothing where all that was told last is told again', async () => {
    await harvester.harvest();
    for (const [change, costs] of [
      [() => undefined, [{ limit: 1 }]],
      [() => ids(5).forEach((id) => service.write(id)), []],
    ] as const) {
      change();
      service.asked.length = 0;
      await harvester.harvest();
      expect(service.asked.filter(({ cursor }) => cursor === undefined)).toMatchObject(costs);
    }
  });
});

const step = fc.oneof(
  fc.record({ do: fc.constant('write' as const), id: fc.constantFrom(...ids(8)) }),
  fc.record({ do: fc.constant('remove' as const), id: fc.constantFrom(...ids(8)) }),
  fc.record({ do: fc.constantFrom('forget' as const, 'loseMoments' as const, 'harvest' as const) }),
  fc.record({
    do: fc.constant('kill' as const),
    at: fc.constantFrom('apply' as const, 'sweep' as const),
    writes: fc.nat(4),
  }),
);

it('whatever happens in between, the copy is equal behind the next harvest, and what stays was always held', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      service = new SimulatedService();
      copy = new MemoryCopy();
      harvester = new Harvester(service, copy, LIMIT);
      service.write('steady');
      await harvester.harvest();
      for (const one of steps) {
        if (one.do === 'write') service.write(one.id);
        else if (one.do === 'remove') service.remove(one.id);
        else if (one.do === 'kill') await killedAt(one.at, one.writes);
        else if (one.do === 'harvest') await harvester.harvest();
        else service[one.do]();
        expect(copy.records.has('steady')).toBe(true);
      }
      await harvester.harvest();
      expect(inCopy()).toEqual(inSource());
    }),
  );
});
