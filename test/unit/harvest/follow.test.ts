import { follow, type Harvested, Harvester } from '../../../client/src/harvest/index.js';
import { MemoryCopy } from './memory-copy.js';
import { SimulatedService } from './simulated-service.js';

let service: SimulatedService;
let copy: MemoryCopy;
let end: AbortController;
beforeEach(() => {
  service = new SimulatedService();
  copy = new MemoryCopy();
  end = new AbortController();
  for (let n = 0; n < 30; n += 1) service.write(`r${n}`);
});

it('harvests, whether anybody wants to hear of it or not', async () => {
  copy.before = () => {
    if (copy.records.size === 20) setImmediate(() => end.abort());
  };
  await follow(service, new Harvester(service, copy, 10), { signal: end.signal, pollMs: 1 });
  expect(copy.records.size).toBe(30);
});

it('begins anew once, however often it fails behind that', async () => {
  await new Harvester(service, copy, 10).harvest();
  service.isPassing = () => true;
  let pages = 0;
  copy.before = (step) => {
    if (step === 'apply' && (pages += 1) % 3 === 0) throw new Error('503');
  };
  const harvests: Harvested[] = [];
  await follow(service, new Harvester(service, copy, 10), {
    ...{ signal: end.signal, pollMs: 1, startsOver: true },
    onHarvest: (harvested) => {
      harvests.push({ ...harvested });
      end.abort();
    },
  });
  expect(harvests).toHaveLength(1);
  expect((await copy.state())?.generation).toBe(2);
});
