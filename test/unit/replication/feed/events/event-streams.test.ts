import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { readSettings } from '../../../../../src/platform/config/index.js';
import { Metrics } from '../../../../../src/platform/observability/index.js';
import { EventStreams } from '../../../../../src/replication/feed/index.js';
import { eventually } from '../../../../support/index.js';

const MANY = 5000;
/** Costs as much as an answer of `max` that is known. */
const WORK = Buffer.alloc(10_000);
const OFFSET = new Date('2026-11-20T10:00:00.000Z');

/** What is asked, and how often at most without a turn for other work. */
class Asked {
  times = 0;
  most = 0;
  private together = 0;

  note(): void {
    createHash('sha256').update(WORK).digest();
    this.times += 1;
    this.together += 1;
    this.most = Math.max(this.most, this.together);
  }

  turn(): void {
    this.together = 0;
  }
}

const response = () =>
  Object.assign(new EventEmitter(), {
    ...{ writableLength: 0, setHeader: () => undefined, write: () => true },
    end(this: EventEmitter) {
      this.emit('close');
    },
    req: { method: 'GET' },
  });

it('a tick for the streams of many applications lets other work take its turns', async () => {
  const [offsets, rights] = [new Asked(), new Asked()];
  const max = { max: () => Promise.resolve(OFFSET).finally(() => offsets.note()) };
  const reading = { applicationOf: () => Promise.resolve({}).finally(() => rights.note()) };
  const settings = readSettings({ EVENTS_CHECK_MS: '1000' });
  const streams = new EventStreams(
    ...([max, reading, new Metrics(), settings] as unknown as ConstructorParameters<typeof EventStreams>),
  );
  let isOver = false;
  const turns = (async () => {
    for (; !isOver; await turn()) for (const asked of [offsets, rights]) asked.turn();
  })();
  for (let n = 0; n < MANY; n += 1) {
    const tenant = { organizationid: 'acme', appid: `shop${n}` };
    const reader = { tenant, username: `reader${n}`, passwordhash: 'x' };
    streams.open(response() as never, { ...reader, kind: 'product', lastEventId: undefined });
    await turn();
  }
  const before = [offsets.times, rights.times];
  await eventually(() => offsets.times >= before[0]! + MANY && rights.times >= before[1]! + MANY);
  isOver = true;
  await turns;
  streams.end();
  expect(Math.max(offsets.most, rights.most)).toBeLessThan(MANY);
});

it('an application whose `max` waits does not delay the events of the others', async () => {
  const times: Record<string, number> = { slow: 0, quick: 0 };
  let release = (_offset: Date) => {};
  const waiting = new Promise<Date>((resolve) => (release = resolve));
  const max = {
    max: ({ appid }: { appid: string }) => {
      times[appid]! += 1;
      return appid === 'slow' && times[appid]! > 1 ? waiting : Promise.resolve(OFFSET);
    },
  };
  const reading = { applicationOf: () => Promise.resolve({}) };
  const settings = readSettings({ EVENTS_CHECK_MS: '10' });
  const streams = new EventStreams(
    ...([max, reading, new Metrics(), settings] as unknown as ConstructorParameters<typeof EventStreams>),
  );
  for (const appid of Object.keys(times)) {
    const reader = { tenant: { organizationid: 'acme', appid }, username: 'ann', passwordhash: 'x' };
    streams.open(response() as never, { ...reader, kind: 'product', lastEventId: undefined });
  }
  await eventually(() => times['slow'] === 2);
  const before = times['quick']!;
  await eventually(() => times['quick']! > before + 3);
  expect(times['slow']).toBe(2);
  streams.end();
  release(OFFSET);
});
