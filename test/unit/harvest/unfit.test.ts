import fc from 'fast-check';
import { Harvester, repair, verify } from '../../../client/src/harvest/index.js';
import { MOST_UNFIT, unfitKey } from '../../../client/src/harvest/unfit.js';
import { upsert } from './changes.js';
import { MemoryCopy } from './memory-copy.js';
import { SimulatedService } from './simulated-service.js';

let service: SimulatedService;
let copy: MemoryCopy;
let compared: { source: SimulatedService; store: MemoryCopy; harvester: Harvester };
beforeEach(() => {
  service = new SimulatedService();
  copy = new MemoryCopy();
  compared = { source: service, store: copy, harvester: new Harvester(service, copy, 10) };
  for (let n = 0; n < 35; n += 1) service.write(`r${n}`);
});

const noted = async () => ((await copy.state())?.unfit ?? []).map(({ id }) => id).sort();
const held = () => [...copy.records.keys()].sort();
const alive = () => [...service.alive.keys()].sort();

describe('a record that a copy cannot hold is noted, and stops nothing', () => {
  it('all others arrive, and each note has the stamp and the reason', async () => {
    for (const id of ['r3', 'r4', 'r17']) copy.refused.add(id);
    await compared.harvester.harvest();
    expect(held()).toEqual(alive().filter((id) => !copy.refused.has(id)));
    expect(await noted()).toEqual(['r17', 'r3', 'r4']);
    expect((await copy.state())?.unfit?.find(({ id }) => id === 'r17')).toEqual({
      ...{ id: 'r17', key: unfitKey('r17'), lastupdated: service.alive.get('r17') },
      ...{ reason: 'No room for r17', generation: 1 },
    });
  });

  it('a later version that fits takes the place of its note, and so does its delete', async () => {
    for (const id of ['r3', 'r4']) copy.refused.add(id);
    await compared.harvester.harvest();
    copy.refused.delete('r3');
    service.write('r3');
    service.remove('r4');
    await compared.harvester.harvest();
    expect([await noted(), held()]).toEqual([[], alive()]);
  });

  it('what the copy held of it before is removed: it is out of date', async () => {
    await compared.harvester.harvest();
    copy.refused.add('r5');
    service.write('r5');
    await compared.harvester.harvest();
    expect([await noted(), held()]).toEqual([['r5'], alive().filter((id) => id !== 'r5')]);
  });

  it('a new start forgets notes of what is no record any more', async () => {
    copy.refused.add('r3');
    await compared.harvester.harvest();
    service.remove('r3');
    service.forget();
    await compared.harvester.harvest({ startsOver: true });
    expect([await noted(), held()]).toEqual([[], alive()]);
  });

  it('verify lists it, and counts it for no difference', async () => {
    copy.refused.add('r3');
    const { differences, unfit } = await verify(compared);
    expect([differences, unfit.map(({ id }) => id)]).toEqual([[], ['r3']]);
  });

  it('a record that it cannot remove is noted, and its page goes on; one that it does not hold is not', async () => {
    await compared.harvester.harvest();
    for (const id of ['r3', 'r4', 'r5', 'r6']) service.remove(id);
    for (const id of ['r4', 'never']) copy.kept.add(id);
    service.write('never');
    service.remove('never');
    await compared.harvester.harvest();
    expect(copy.walks).toBe(0);
    expect([await noted(), held()]).toEqual([['r4'], ['r4', ...alive()].sort()]);
    const verified = await verify(compared);
    expect(verified.differences.map(({ id }) => id)).toEqual(['r4']);
    expect(verified.unfit).toMatchObject([{ id: 'r4', isRemoval: true, reason: 'r4 stays' }]);
    expect((await repair(compared, verified)).left.unfit).toMatchObject([{ id: 'r4', isRemoval: true }]);
    copy.kept.delete('r4');
    expect((await repair(compared, verified)).left).toMatchObject({ differences: [], unfit: [] });
    expect([await noted(), held()]).toEqual([[], alive()]);
  });

  it('a new start goes to its end although one that is gone cannot be removed', async () => {
    await compared.harvester.harvest();
    for (const id of ['r3', 'r4']) service.remove(id);
    copy.kept.add('r4');
    service.forget();
    await compared.harvester.harvest({ startsOver: true });
    expect([await noted(), held()]).toEqual([['r4'], ['r4', ...alive()].sort()]);
    service.write('later');
    await compared.harvester.harvest();
    expect([await noted(), held()]).toEqual([['r4'], ['r4', ...alive()].sort()]);
  });

  it('one that the copy neither takes nor removes keeps its note through a new start, which told of it', async () => {
    await compared.harvester.harvest();
    for (const ids of [copy.refused, copy.kept]) ids.add('r4').add('r5');
    const outdated = service.alive.get('r4');
    service.write('r4');
    await compared.harvester.harvest({ startsOver: true });
    const { differences, unfit } = await verify(compared);
    // The copy holds r5 as it is, and an old version of r4.
    expect(differences).toEqual([{ id: 'r4', held: outdated, told: service.alive.get('r4') }]);
    expect(unfit.map(({ id, lastupdated }) => [id, lastupdated])).toEqual(
      ['r4', 'r5'].map((id) => [id, service.alive.get(id)]),
    );
    expect(unfit.filter(({ isRemoval }) => isRemoval)).toEqual([]);
  });

  it('and repair removes none of them, whatever the digest says', async () => {
    await compared.harvester.harvest();
    for (const ids of [copy.refused, copy.kept]) ids.add('r5');
    await compared.harvester.harvest({ startsOver: true });
    for (const ids of [copy.refused, copy.kept]) ids.clear();
    const digest = service.digest.bind(service);
    service.digest = async (asked) => {
      const stamp = service.alive.get('r5')!;
      service.alive.delete('r5');
      try {
        return await digest(asked);
      } finally {
        service.alive.set('r5', stamp);
      }
    };
    await repair(compared, await verify(compared));
    expect(held()).toEqual(alive());
  });

  it('repair does not put back what the source has removed, although it shows a moment at which that was there', async () => {
    await compared.harvester.harvest();
    const stamp = service.alive.get('r4')!;
    service.remove('r4');
    service.remove('r3');
    copy.kept.add('r4');
    service.forget();
    expect(await compared.harvester.harvest({ startsOver: true })).toMatchObject({ deletes: 1 });
    copy.kept.clear();
    const updates = service.updates.bind(service);
    service.updates = async function* (within) {
      yield* updates(within);
      if (stamp > within.from && stamp <= within.to) yield upsert('r4', stamp);
    };
    const put: string[] = [];
    const mend = copy.mend.bind(copy);
    copy.mend = (mended) => {
      put.push(...mended.upserts.map(({ id }) => id));
      return mend(mended);
    };
    const { left } = await repair(compared, await verify(compared));
    expect([put, left.differences, left.unfit]).toEqual([[], [], []]);
  });

  it('the note of one that it could not remove goes with it, and with its return', async () => {
    await compared.harvester.harvest();
    for (const id of ['r3', 'r4']) {
      service.remove(id);
      copy.kept.add(id);
    }
    await compared.harvester.harvest();
    expect(await noted()).toEqual(['r3', 'r4']);
    copy.records.delete('r3');
    service.write('r4');
    const verified = await verify(compared);
    expect((await repair(compared, verified)).left).toMatchObject({ differences: [], unfit: [] });
  });

  it('repair notes what the copy cannot take any more, and mends the others', async () => {
    await compared.harvester.harvest();
    for (const id of ['r3', 'r4', 'r5']) copy.records.delete(id);
    copy.refused.add('r4');
    const { left } = await repair(compared, await verify(compared));
    expect([left.differences, left.unfit.map(({ id }) => id)]).toEqual([[], ['r4']]);
    expect(held()).toEqual(alive().filter((id) => id !== 'r4'));
  });

  it('repair tries it once more', async () => {
    for (const id of ['r3', 'r4']) copy.refused.add(id);
    const verified = await verify(compared);
    copy.refused.delete('r3');
    const { left } = await repair(compared, verified);
    expect([left.differences, left.unfit.map(({ id }) => id)]).toEqual([[], ['r4']]);
    expect(held()).toEqual(alive().filter((id) => id !== 'r4'));
  });

  it('but a store that is away, full or taken makes no note of anything', async () => {
    copy.before = () => {
      throw new Error('disk full');
    };
    await expect(compared.harvester.harvest()).rejects.toThrow('disk full');
    copy.before = () => undefined;
    expect([await noted(), held()]).toEqual([[], []]);
  });

  it('a first page that was stored in part does not leave out the deletes of what was stored', async () => {
    copy.refused.add('r17');
    copy.before = (_step, page) => {
      if (page?.state.cursor === undefined) return;
      if (copy.records.size > 0) throw new Error('killed');
    };
    await expect(compared.harvester.harvest()).rejects.toThrow('killed');
    expect(held()).toContain('r0');
    copy.before = () => undefined;
    service.remove('r0');
    await compared.harvester.harvest();
    expect([await noted(), held()]).toEqual([['r17'], alive().filter((id) => id !== 'r17')]);
  });

  it('and a store that takes hardly any ends the harvest with what it says', async () => {
    for (let n = 0; n <= MOST_UNFIT; n += 1) service.write(`x${n}`);
    alive().forEach((id) => copy.refused.add(id));
    await expect(compared.harvester.harvest()).rejects.toThrow('No room for');
    expect((await noted()).length).toBeLessThanOrEqual(MOST_UNFIT);
  });
});

it('killed at any step, whatever does not fit: the next harvest ends with the same copy and the same notes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(34), { maxLength: 6 }), fc.nat(20), async (refused, writes) => {
      const store = new MemoryCopy();
      refused.forEach((n) => store.refused.add(`r${n}`));
      let left = writes;
      store.before = () => {
        if ((left -= 1) === 0) throw new Error('killed');
      };
      await new Harvester(service, store, 10).harvest().catch((error: Error) => {
        expect(error.message).toBe('killed');
      });
      store.before = () => undefined;
      await new Harvester(service, store, 10).harvest();
      expect([...store.records.keys()].sort()).toEqual(alive().filter((id) => !store.refused.has(id)));
      const ids = ((await store.state())?.unfit ?? []).map(({ id }) => id);
      expect(ids.sort()).toEqual([...store.refused].sort());
    }),
    { numRuns: 60 },
  );
});
