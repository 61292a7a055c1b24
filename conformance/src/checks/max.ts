import { checksOf, feedsIn } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { bodyOf, type HttpAnswer } from '../http-answer.js';
import { itemsOf, type Reading, stampOf } from '../reading.js';
import { FAR, hasExactly, isStamp, shifted } from './shapes.js';

/** The problem of a `from` between a backup and the command `restored`, after which `max` may be the time of that command. */
const RESTORED = 'urn:tidemark:problem:source-restored';
const NONE_YET = '1970-01-01T00:00:00.000Z';
/** How often `max` is requested again if it changes between two requests. */
const MOST_MOVES = 5;

const askMax = ({ server }: Reading, headers: Record<string, string> = {}) =>
  server.ask(`${server.target.kind}/max`, { headers });
const offsetOf = (answer: HttpAnswer) => String(bodyOf(answer)['offset']);

async function shape(reading: Reading, found: Findings): Promise<void> {
  const answer = await askMax(reading);
  const body = bodyOf(answer);
  const isRight = answer.status === 200 && hasExactly(body, ['offset']) && isStamp(body['offset']);
  found.that(isRight, answer, '200 {"offset": "YYYY-MM-DDTHH:mm:ss.sssZ"} without other properties');
}

async function newest(reading: Reading, found: Findings): Promise<void> {
  const from = offsetOf(await askMax(reading));
  if (!isStamp(from)) return found.lacking('max has no offset');
  for (const { path, shows } of feedsIn(reading)) {
    const page = await reading.page(path, { from, to: FAR });
    if (page.answer.status !== 200) continue;
    const max = await askMax(reading);
    const late = page.items.map(stampOf).find((stamp) => stamp > offsetOf(max));
    found.that(
      late === undefined,
      max,
      `max is not earlier than any item of ${path}`,
      `${shows} contain ${late}`,
    );
  }
}

async function greatest(reading: Reading, found: Findings): Promise<void> {
  const { kind } = reading.server.target;
  for (let turn = 0; turn < MOST_MOVES; turn += 1) {
    const answer = await askMax(reading);
    const to = offsetOf(answer);
    if (to === NONE_YET || !isStamp(to)) return found.lacking('max has no offset yet');
    const window = { from: shifted(to, -1), to, limit: '1' };
    const pages = [
      await reading.page(`${kind}/default/updates`, window),
      await reading.page(`${kind}/harddeletes`, window),
    ];
    if (pages.some((page) => bodyOf(page.answer)['type'] === RESTORED))
      return found.lacking('max is the time at which the database was restored, which no record has');
    const hasMoved = offsetOf(await askMax(reading)) !== to;
    const expected = 'a record or a hard delete with the timestamp of max';
    if (itemsOf(pages).length > 0 || !hasMoved)
      return void found.that(itemsOf(pages).length > 0, answer, expected, `${to}, which none has`);
  }
  found.lacking('max changes all the time');
}

async function notAhead(reading: Reading, found: Findings): Promise<void> {
  const answer = await askMax(reading);
  const page = await reading.page(`${reading.server.target.kind}/default/updates`, { to: FAR, limit: '1' });
  const clock = page.answer.headers.get('tidemark-to') ?? '';
  if (!isStamp(clock) || clock === FAR)
    return found.lacking('the Tidemark-To of a `to` in the future is not the clock');
  found.that(
    offsetOf(answer) <= clock,
    answer,
    'an offset not later than the clock',
    `${offsetOf(answer)} at ${clock}`,
  );
}

async function etag(reading: Reading, found: Findings): Promise<void> {
  for (let turn = 0; turn < MOST_MOVES; turn += 1) {
    const first = await askMax(reading);
    const tag = first.headers.get('etag');
    if (!found.that(tag !== null && /^(W\/)?"[^"]+"$/.test(tag), first, 'an ETag', `ETag: ${tag}`)) return;
    const again = await askMax(reading, { 'if-none-match': tag! });
    if (again.status === 200 && again.headers.get('etag') !== tag) continue;
    const isRight = again.status === 304 && again.text === '';
    found.that(isRight, again, '304 without a body to If-None-Match with the ETag');
    const other = await askMax(reading, { 'if-none-match': '"conformance"' });
    return void found.that(other.status === 200, other, '200 to If-None-Match with another ETag');
  }
  found.lacking('max changes all the time');
}

async function noParameters({ server }: Reading, found: Findings): Promise<void> {
  const query = { to: 'garbage', from: ['1', '2'], limit: '0', lastoffsetid: 'x' };
  const answer = await server.ask(`${server.target.kind}/max`, { query });
  found.that(answer.status === 200, answer, '200, regardless of parameters');
}

export const maxChecks = checksOf('seed', {
  'max-shape': ['`max` answers `{"offset": "2026-11-20T10:00:00.000Z"}`.', shape],
  'max-newest': ['`max` is not earlier than any timestamp of the kind, regardless of filters.', newest],
  'max-greatest': ['`max` is the timestamp of a record or of a hard delete.', greatest],
  'max-not-ahead': ["`max` is never later than the database's clock.", notAhead],
  'max-etag': ['`max` has an `ETag`; a request whose `If-None-Match` matches it gets 304.', etag],
  'max-no-parameters': ['`max` takes no parameters.', noParameters],
});
