import { ConnectionError } from '../http/connection-error.js';
import { pause } from '../http/pause.js';
import { isTransient } from '../http/repeatable.js';
import type { Sender } from '../http/sender.js';
import type { CallOptions } from '../options.js';
import type { Kind, SafeOffset } from '../shapes.js';
import { EventParser } from './parser.js';

const EVENT_STREAM = 'text/event-stream';

export interface EventsOptions extends CallOptions {
  /** The offset that was seen last: where the mark is beyond it already, an event comes at once. */
  lastEventId?: string | undefined;
}

/**
 * Tells when the mark may have moved. A signal only: losing one loses nothing. A stream that ends is opened again; where it
 * cannot be, or ends at once, as often in a row as `retries` say, the failure is thrown.
 */
export async function* eventsOf(
  sender: Sender,
  kind: Kind,
  { lastEventId, signal }: EventsOptions,
): AsyncGenerator<SafeOffset, void> {
  let last = lastEventId;
  let failures = 0;
  for (;;) {
    const parser = new EventParser();
    let failure: unknown = new ConnectionError('The events end as soon as they are asked for.');
    const opened = Date.now();
    try {
      const headers = { Accept: EVENT_STREAM, 'Last-Event-ID': last };
      const path: [string, ...string[]] = ['api/v1', kind, 'events'];
      for await (const piece of sender.pieces({ method: 'GET', path, headers, signal }, EVENT_STREAM)) {
        if (Date.now() - opened > sender.retries.longestMs) failures = 0;
        for (const { event, id, data } of parser.push(piece)) {
          failures = 0;
          last = id || last;
          if (event === 'max') yield { offset: data };
        }
      }
    } catch (error) {
      if (!isTransient(error)) throw error;
      failure = error;
    }
    const ms = sender.waitBefore(failures, failure);
    if (ms === undefined) throw failure;
    failures += 1;
    await pause(ms + Math.min(parser.retryMs ?? 0, sender.retries.longestMs), signal);
  }
}
