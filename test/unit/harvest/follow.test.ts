import { follow, type Harvested, Harvester } from '../../../client/src/harvest/index.js';
import { ProblemError } from '../../../client/src/index.js';
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
afterEach(() => end.abort());

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

describe('behind a failure that passes it waits', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  const refused = (retryAfter?: number) => {
    const type = 'urn:tidemark:problem:quota-used-up';
    return new ProblemError({ type, title: 'It is so', status: 429, detail: 'It went so.' }, retryAfter);
  };

  it.each([
    ['as long as Retry-After says', 30, 30_000],
    ['pollMs where Retry-After is shorter', 4, 5000],
    ['pollMs where there is none', undefined, 5000],
    ['as long as Retry-After says, up to ten minutes', 600, 600_000],
    ['ten minutes where Retry-After is a day', 86_400, 600_000],
    ['ten minutes where Retry-After is longer than a timer can be', 2_678_400, 600_000],
  ])('%s', async (_name, retryAfter, ms) => {
    service.isPassing = () => true;
    const asked = jest.spyOn(service, 'pages').mockImplementationOnce(() => {
      throw refused(retryAfter);
    });
    const following = follow(service, new Harvester(service, copy), { signal: end.signal, pollMs: 5000 });
    await jest.advanceTimersByTimeAsync(ms - 1);
    expect(asked).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked).toHaveBeenCalledTimes(2);
    end.abort();
    await following;
  });
});
