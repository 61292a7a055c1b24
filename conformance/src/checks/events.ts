import { randomUUID } from 'node:crypto';
import { checksOf } from '../contract-check.js';
import { bodyOf, brief, type HttpAnswer } from '../http-answer.js';
import type { Findings } from '../findings.js';
import type { Reading } from '../reading.js';
import type { RequestForm } from '../server.js';
import { isStamp } from './shapes.js';

/** Milliseconds without an event that show that none comes at once; a server that keeps the contract is waited for so long. */
const QUIET_MS = 1500;
const UNKNOWN = `conformance-${randomUUID().slice(0, 8)}`;
const STREAM = /^text\/event-stream\s*(;|$)/i;

/** An event of a stream, as its fields were sent; a comment is a field without a name. */
type Fields = Map<string, string>;

/** The events and comments that have come to their end. */
function blocksOf(text: string): Fields[] {
  const blocks = text.replaceAll(/\r\n?/g, '\n').split('\n\n').slice(0, -1);
  return blocks.map((block) => {
    const lines = block.split('\n').map((line) => /^([^:]*)(?:: ?)?(.*)$/s.exec(line));
    return new Map(lines.map((parts) => [parts?.[1] ?? '', parts?.[2] ?? '']));
  });
}

const isEvent = (fields: Fields) => fields.has('data');
const eventsIn = (text: string) => blocksOf(text).filter(isEvent);

/** A stream up to its first event, or to one from an offset on. */
function listen(
  reading: Reading,
  form: RequestForm = {},
  { from = '', ...within }: { from?: string; withinMs?: number } = {},
): Promise<HttpAnswer> {
  const { server } = reading;
  const isEnough = (text: string) => eventsIn(text).some((event) => event.get('data')! >= from);
  const enough = { isEnough, ...within };
  return server.ask(`${server.target.kind}/events`, { enough, ...form });
}

async function offsetOf({ server }: Reading): Promise<string> {
  return String(bodyOf(await server.ask(`${server.target.kind}/max`))['offset']);
}

async function stream(reading: Reading, found: Findings): Promise<void> {
  const answer = await listen(reading);
  const type = answer.headers.get('content-type') ?? '';
  const isStream = answer.status === 200 && STREAM.test(type);
  found.that(isStream, answer, '200 with content-type: text/event-stream', `${answer.status} ${type}`);
  found.that(answer.text.startsWith(':'), answer, 'a comment as the first bytes', brief(answer.text));
}

async function offset(reading: Reading, found: Findings): Promise<void> {
  // The first event of a new stream may have an earlier offset.
  const answer = await listen(reading, {}, { from: reading.to });
  const after = await offsetOf(reading);
  const event = eventsIn(answer.text).at(-1);
  const came = brief(answer.text);
  if (!found.that(event !== undefined, answer, 'an event at once', came)) return;
  found.that(event!.get('event') === 'max', answer, 'an event named max', came);
  const [id, data] = [event!.get('id'), event!.get('data')];
  found.that(id === data, answer, 'an event with the same id and data', came);
  const isOffset = isStamp(data) && reading.to <= data && data <= after;
  found.that(isOffset, answer, 'an event with the offset that max returns', `${came}, and max is ${after}`);
}

async function known(reading: Reading, found: Findings): Promise<void> {
  const last = await offsetOf(reading);
  const answer = await listen(reading, { headers: { 'last-event-id': last } }, { withinMs: QUIET_MS });
  const isQuiet = answer.status === 200 && eventsIn(answer.text)[0]?.get('data') !== last;
  found.that(isQuiet, answer, 'no event with the offset of Last-Event-ID', brief(answer.text));
}

async function access(reading: Reading, found: Findings): Promise<void> {
  const { server } = reading;
  const open = await listen(reading, { login: null });
  found.that(open.status === 401, open, '401 without credentials');
  const { organizationid, kind } = server.target;
  const enough = { isEnough: () => true };
  const unknown = await server.elsewhere(organizationid, UNKNOWN, `${kind}/events`, { enough });
  found.that(unknown.status === 404, unknown, '404 to an unknown application');
}

export const eventsChecks = checksOf('events', {
  'events-stream': ['`events` is a stream of server-sent events, and begins with a comment.', stream],
  'events-max': [
    'The first `event: max` comes at once; its `id` and `data` are the offset that `max` returns.',
    offset,
  ],
  'events-known': ['If `Last-Event-ID` is the current offset, that offset is not sent again.', known],
  'events-access': ['`events` is 401 without credentials, and 404 for an unknown application.', access],
});
