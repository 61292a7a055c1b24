import { Harvester, repair, verify } from '../../../client/src/harvest/index.js';
import { MemoryCopy } from './memory-copy.js';
import { SimulatedService } from './simulated-service.js';

let service: SimulatedService;
let copy: MemoryCopy;
let compared: { source: SimulatedService; store: MemoryCopy; harvester: Harvester };
beforeEach(async () => {
  service = new SimulatedService();
  copy = new MemoryCopy();
  compared = { source: service, store: copy, harvester: new Harvester(service, copy, 50) };
  for (let n = 0; n < 500; n += 1) service.write(`r${n}`);
  await compared.harvester.harvest();
});

/** One with an older stamp, one with a newer one, one that is missing, and one too many. */
function spoil(): void {
  const { records } = copy;
  records.get('r1')!.lastupdated = '1969-01-01T00:00:00.000Z';
  records.get('r2')!.lastupdated = '2969-01-01T00:00:00.000Z';
  records.delete('r3');
  records.set('stray', { lastupdated: '1970-01-01T00:00:00.001Z', generation: 1 });
}

const idsOf = (differences: { id: string }[]) => differences.map(({ id }) => id);

it('repair removes nothing that the source still delivers, whatever its digest says', async () => {
  const digest = service.digest.bind(service);
  service.digest = async (asked) => {
    const hidden = service.alive.get('r7')!;
    service.alive.delete('r7');
    try {
      return await digest(asked);
    } finally {
      service.alive.set('r7', hidden);
    }
  };
  const verified = await verify(compared);
  expect(verified.differences.map(({ id }) => id)).toEqual(['r7']);
  await repair(compared, verified);
  expect(copy.records.has('r7')).toBe(true);
});

describe('verify', () => {
  it('fails where a digest leaves out the records that it was asked for, and calls none of the copy wrong', async () => {
    spoil();
    const digest = service.digest.bind(service);
    service.digest = async (asked) => ({ ...(await digest(asked)), records: undefined });
    await expect(verify(compared)).rejects.toThrow('The service told no records of the buckets');
  });

  it('of an equal copy tells nothing', async () => {
    expect(await verify(compared)).toMatchObject({ differences: [], count: 500 });
  });

  it('tells exactly what differs', async () => {
    spoil();
    const { differences } = await verify(compared);
    expect(idsOf(differences)).toEqual(['r1', 'r2', 'r3', 'stray']);
    expect(differences[2]).toEqual({ id: 'r3', told: service.alive.get('r3') });
    expect(differences[3]).toEqual({ id: 'stray', held: '1970-01-01T00:00:00.001Z' });
  });

  it('does not take a record that changes meanwhile for a wrong one', async () => {
    spoil();
    const digest = service.digest.bind(service);
    let n = 10;
    service.digest = (asked) => {
      service.write(`r${(n += 1)}`);
      service.remove(`r${n + 100}`);
      return digest(asked);
    };
    expect(idsOf((await verify(compared)).differences)).toEqual(['r1', 'r2', 'r3', 'stray']);
  });
});

it('repair asks the source for what it needs, and for nothing else', async () => {
  spoil();
  const told: object[] = [];
  const updates = service.updates.bind(service);
  service.updates = (within) => {
    told.push(within);
    return updates(within);
  };
  const { signal } = new AbortController();
  await repair(compared, await verify(compared), { signal });
  const stamps = { from: expect.any(String) as string, to: expect.any(String) as string };
  expect(told.length).toBeGreaterThan(0);
  for (const within of told) expect(within).toEqual({ ...stamps, signal });
});

it('repair mends exactly what differs', async () => {
  spoil();
  const before = new Map([...copy.records].map(([id, held]) => [id, held]));
  const verified = await verify(compared);
  const { left } = await repair(compared, verified);
  expect(left.differences).toEqual([]);
  const touched = [...copy.records].filter(([id, held]) => before.get(id) !== held).map(([id]) => id);
  expect(touched.sort()).toEqual(['r1', 'r2', 'r3']);
  expect(copy.records.has('stray')).toBe(false);
});

it('repair removes a record whose stamp is none of the source: it does not ask for such a time', async () => {
  const stamps = ['2969-01-01T00:00:00.000Z', 'yesterday', ''];
  for (const [n, lastupdated] of stamps.entries())
    copy.records.set(`stray${n}`, { lastupdated, generation: 1 });
  const updates = service.updates.bind(service);
  service.updates = (within) => {
    if (within.from > '1970-01-02') throw new Error('410 source-restored');
    return updates(within);
  };
  const verified = await verify(compared);
  expect(idsOf(verified.differences)).toEqual(['stray0', 'stray1', 'stray2']);
  expect((await repair(compared, verified)).left.differences).toEqual([]);
  expect(copy.records.size).toBe(500);
});
