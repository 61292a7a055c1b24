import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Subscriber } from '../../../../../src/replication/feed/events/event-streams.js';

const ONE = '2026-11-20T10:00:00.000Z';
const TWO = '2026-11-20T10:00:01.000Z';
const eventOf = (offset: string) => `event: max\nid: ${offset}\ndata: ${offset}\n\n`;

/** An answer whose client has taken nothing of what was written. */
class StalledResponse extends EventEmitter {
  text = '';
  destroyed = false;
  writableEnded = false;
  setHeader = jest.fn();

  get writableLength(): number {
    return this.text.length;
  }

  write(text: string): void {
    this.text += text;
  }

  end(text: string): void {
    this.write(text);
    this.writableEnded = true;
  }

  destroy(): void {
    this.destroyed = this.writableEnded = true;
    this.emit('close');
  }
}

let response: StalledResponse;
beforeEach(() => {
  response = new StalledResponse();
});
const subscriber = (known?: string) => new Subscriber(response as unknown as ServerResponse, known, 0);

it('is told each offset once, and none that its client knows', () => {
  const one = subscriber(ONE);
  one.send(ONE);
  one.send(TWO);
  one.send(TWO);
  one.send(ONE);
  expect(response.text).toBe(eventOf(TWO) + eventOf(ONE));
});

it('a client that takes nothing is let go before its answer fills memory', () => {
  const one = subscriber();
  for (let count = 0; !response.destroyed; count += 1) one.send(new Date(count).toISOString());
  const { length } = response.text;
  expect(length).toBeLessThan(17 * 1024);
  one.comment();
  one.end();
  expect(response.text).toHaveLength(length);
});

describe('at its end', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('a hint says when to come back, and nothing follows', () => {
    const one = subscriber();
    one.end();
    one.end();
    one.send(ONE);
    expect(response.text).toMatch(/^retry: [1-5]\d{3}\n\n$/);
  });

  it('a client that does not take it is let go', () => {
    subscriber().end();
    jest.advanceTimersByTime(999);
    expect(response.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(response.destroyed).toBe(true);
  });

  it('nothing is left of one that does', () => {
    subscriber().end();
    response.emit('close');
    expect(jest.getTimerCount()).toBe(0);
  });
});
