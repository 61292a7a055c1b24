import fc from 'fast-check';
import { EventParser } from '../../../client/src/events/parser.js';
import { cut, json, type Play, problem, Served } from './served.js';

const STREAM =
  ': hello\r\nretry: 5\r\n\r\nevent: max\r\nid: t1\r\ndata: t1\r\n\r\n' +
  'data: one\ndata:two\n\nevent: nothing\n\nid\rdata\r\rdata:  x\n\ndata: not ended';
const TOLD = [
  { event: 'max', id: 't1', data: 't1' },
  { event: 'message', id: 't1', data: 'one\ntwo' },
  { event: 'message', id: '', data: '' },
  { event: 'message', id: '', data: ' x' },
];

describe('server-sent events', () => {
  it('are read the same however the stream is cut', () => {
    const cuts = fc.uniqueArray(fc.nat({ max: STREAM.length }));
    fc.assert(
      fc.property(cuts, (places) => {
        const parser = new EventParser();
        const ends = [0, ...places.sort((one, other) => one - other), STREAM.length];
        const pieces = ends.slice(1).map((end, index) => STREAM.slice(ends[index], end));
        expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(TOLD);
        expect(parser.retryMs).toBe(5);
      }),
    );
  });

  it.each([
    ['a line', 'data: x'],
    ['lines', 'data: x\n'],
  ])('a stream of %s without an end is not held', (_name, piece) => {
    const parser = new EventParser();
    expect(() => {
      for (let times = 0; times < 20_000; times += 1) parser.push(piece);
    }).toThrow('too long');
  });

  it('comments without an end are', () => {
    const parser = new EventParser();
    for (let times = 0; times < 20_000; times += 1) expect(parser.push(': alive\n')).toEqual([]);
  });
});

describe('events of a kind', () => {
  let served: Served;
  afterEach(() => served.stop());

  const stream = (...events: string[]): Play => {
    return (response) =>
      response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' }).end(events.join(''));
  };
  const max = (offset: string) => `event: max\nid: ${offset}\ndata: ${offset}\n\n`;

  /** Takes so many events. */
  async function first(count: number, lastEventId?: string): Promise<string[]> {
    const seen: string[] = [];
    for await (const { offset } of served.client().events('product', { lastEventId })) {
      seen.push(offset);
      if (seen.length === count) break;
    }
    return seen;
  }

  it('a stream that ends is opened again behind the last event', async () => {
    served = await Served.start(stream('retry: 1\n\n', max('t1'), max('t2')), cut, stream(max('t3')));
    expect(await first(3, 't0')).toEqual(['t1', 't2', 't3']);
    expect(served.received.map(({ headers }) => headers['last-event-id'])).toEqual(['t0', 't2', 't2']);
    expect(served.received[0]).toMatchObject({
      path: 'api/v1/product/events',
      headers: { accept: 'text/event-stream' },
    });
  });

  it('events of other names are left alone', async () => {
    served = await Served.start(stream('event: other\ndata: x\n\n', max('t1')));
    expect(await first(1)).toEqual(['t1']);
  });

  it('a problem that does not pass is thrown', async () => {
    served = await Served.start(stream(max('t1')), problem(404, 'unknown-application'));
    await expect(first(2)).rejects.toThrow('404 unknown-application');
  });

  it.each<[string, Play, RegExp]>([
    ['that are no stream', json({}), /it is application\/json, not text\/event-stream/],
    ['that end at once', stream(), /end as soon as they are asked for/],
    ['that never come', cut, /has no whole answer/],
  ])('events %s are given up after so many attempts', async (_name, play, message) => {
    served = await Served.start(...Array<Play>(9).fill(play));
    await expect(first(1)).rejects.toThrow(message);
    expect(served.received).toHaveLength(9);
  });

  it('whoever leaves ends the request', async () => {
    const left = new Promise<void>((resolve) => {
      const endless: Play = (response) => {
        response.once('close', resolve).writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write(max('t1'));
      };
      void Served.start(endless).then(async (started) => {
        served = started;
        expect(await first(1)).toEqual(['t1']);
      });
    });
    await left;
  });
});
