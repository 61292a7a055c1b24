import { mongo } from 'mongoose';
import type { Batch } from '../../../../../src/replication/watcher/index.js';
import { type Beside, Lane } from '../../../../../src/replication/watcher/term/lane.js';
import type { StreamWork, Term } from '../../../../../src/replication/watcher/term/stream-work.js';
import { eventually } from '../../../../support/index.js';

const tokenAt = (second: number) => ({ _data: `82${second.toString(16).padStart(40, '0')}` });
const placeAt = (second: number) => tokenAt(second)._data.slice(2);
const batchAt = (second: number): Batch => ({
  events: [],
  token: tokenAt(second),
  until: new mongo.Timestamp({ t: second, i: 1 }),
  isLast: true,
});

/** A main stream that can come to its next batch while the lane stores how far it has come. */
class MainStream implements Beside {
  isBehind = false;
  constructor(
    private at: number,
    private readonly meanwhile: () => void = () => undefined,
  ) {}

  get reaching(): string {
    return placeAt(this.at);
  }

  come(second: number): void {
    this.at = second;
  }

  save(): Promise<void> {
    this.meanwhile();
    return Promise.resolve();
  }

  moveSince(): Promise<void> {
    return Promise.resolve();
  }
}

function laneBeside(main: MainStream, batches: number[]): Lane {
  const stop = new AbortController().signal;
  const work = {
    async *open(term: Term) {
      for (const second of batches) yield await Promise.resolve(batchAt(second));
      while (!term.stop.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  } as unknown as StreamWork;
  const at = {
    ...{ organizationid: 'acme', appid: 'bulky', token: tokenAt(5) },
    watched: new mongo.Timestamp({ t: 5, i: 1 }),
  };
  const term = { stop, showLife: () => undefined } as unknown as Term;
  return new Lane({ work, ownPass: undefined as never }, term, main, at, new Map());
}

describe('a lane that has come as far as the main stream', () => {
  it('is parked before the main stream can come to a batch that it would leave to the lane', async () => {
    const seen: unknown[] = [];
    const main = new MainStream(10, () => {
      seen.push(lane.parkedAt);
      main.come(20);
    });
    const lane = laneBeside(main, [5, 10]);
    lane.start();
    await eventually(() => seen.length > 0);
    expect(seen).toEqual([placeAt(10)]);
    await lane.end();
    expect(lane.parkedAt).toBe(placeAt(10));
  });

  it('goes on where the main stream came to a batch before it was parked', async () => {
    const main = new MainStream(20);
    const lane = laneBeside(main, [5, 10, 20]);
    lane.start();
    await eventually(() => lane.parkedAt !== undefined);
    expect(lane.parkedAt).toBe(placeAt(20));
    await lane.end();
  });

  it('is not parked by the answer to the opening of its stream', async () => {
    const main = new MainStream(5);
    const lane = laneBeside(main, [5, 7]);
    lane.start();
    await eventually(() => lane.parkedAt !== undefined);
    expect(lane.parkedAt).toBe(placeAt(7));
    await lane.end();
  });
});
