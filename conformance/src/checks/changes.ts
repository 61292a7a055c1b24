import { changesOf, changesPage, changesPages, WAYS_ON, type AnsweredPage } from '../changes-pages.js';
import { checksOf } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { bodyOf, brief } from '../http-answer.js';
import type { JudgedServer } from '../target.js';
import { doubled, type FeedItem, idOf, type Reading, textOf } from '../reading.js';
import { faultOfUpdate, hasExactly, isStamp } from './shapes.js';
import { eachWindow, type ToldWindow } from './changes-window.js';
import { changesLines } from './changes-lines.js';
import { changesRefusals } from './changes-refusals.js';
import { skipped } from './changes-skip.js';

const NAMES = ['result', 'to', 'nextoffsetid', 'cursor'];

async function envelope({ server, to }: Reading, found: Findings): Promise<void> {
  for (const { path } of changesOf(server))
    for (const limit of ['1', '1000']) {
      const { answer, next, nextoffsetid, cursor } = await changesPage(server, path, { to, limit });
      const body = bodyOf(answer);
      const isRight =
        hasExactly(body, 'next' in body ? [...NAMES, 'next'] : NAMES) && Array.isArray(body['result']);
      const expected = `${path}: 200 {"result": [...], "to": "...", "nextoffsetid": "...", "next": "...", "cursor": "..."}`;
      found.that(
        answer.status === 200 && isRight && cursor !== '',
        answer,
        expected,
        brief(Object.keys(body)),
      );
      const goesOn =
        typeof body['nextoffsetid'] === 'string' && (nextoffsetid !== '') === (next !== undefined);
      found.that(
        goesOn,
        answer,
        `${path}: next together with a nextoffsetid; on the last page no next, and ""`,
      );
      if (next === undefined) continue;
      const came = `"next": ${brief(next)}`;
      const isHere = server.whereTo(next, answer) !== undefined;
      found.that(isHere, answer, `${path}: a next on this server`, came);
      found.that(isRelative(next), answer, `${path}: a next without a scheme and a host`, came);
    }
}

/** Behind a proxy, a URL with a host would lead past it. */
function isRelative(url: string): boolean {
  return !URL.canParse(url) && !url.startsWith('//');
}

async function usedTo({ server, to }: Reading, found: Findings): Promise<void> {
  for (const { path } of changesOf(server)) {
    const page = await changesPage(server, path, { to, limit: '1' });
    found.that(page.to === to, page.answer, `${path}: "to": "${to}", the one that was sent`, brief(page.to));
    const clock = await changesPage(server, path, { limit: '1' });
    const isClock = clock.answer.status === 200 && isStamp(clock.to) && clock.to >= to;
    found.that(isClock, clock.answer, `${path}: without to, the database's clock as "to"`);
  }
}

function faultOfItem(item: FeedItem, target: JudgedServer): string | undefined {
  const { op, ...rest } = item;
  if (op === 'upsert') return faultOfUpdate(rest, target);
  if (op !== 'delete') return '"op": "upsert" or "op": "delete"';
  const isRight =
    hasExactly(rest, ['id', 'lastupdated', 'reason']) && ['left', 'gone'].includes(String(rest['reason']));
  return isRight ? undefined : 'op, id, lastupdated (lower-case u), reason ("left" or "gone") in a delete';
}

function items(found: Findings, { path, pages, target }: ToldWindow): void {
  const all = pages.flatMap((page) => page.items);
  const wrong = all.find((item) => faultOfItem(item, target) !== undefined);
  const fault = wrong && faultOfItem(wrong, target);
  found.that(
    wrong === undefined,
    pages[0]!.answer,
    `${path}: items with ${fault ?? 'the properties in the contract'}`,
    brief(wrong),
  );
}

function once(found: Findings, { path, pages, limit }: ToldWindow): void {
  const twice = doubled(pages.flatMap((page) => page.items).map(idOf));
  found.that(
    twice === undefined,
    pages[0]!.answer,
    `${path} with limit=${limit}: each id once in the window`,
    `${brief(twice)} twice`,
  );
}

function equal(found: Findings, { path, pages, limit, told, isWhole, from }: ToldWindow): void {
  const { answer } = pages[0]!;
  const came = new Map(pages.flatMap((page) => page.items).map((item) => [idOf(item), textOf(item)]));
  const expected = new Map(told.map((item) => [idOf(item), textOf(item)]));
  const name = `${path} with limit=${limit}${from === undefined ? '' : ' and a from'}`;
  const lost = isWhole ? told.find((item) => !came.has(idOf(item))) : undefined;
  found.that(lost === undefined, answer, `${name}: all items of the three feeds`, `missing: ${brief(lost)}`);
  const other = [...came].find(([id, text]) => expected.get(id) !== text);
  found.that(other === undefined, answer, `${name}: only items of the three feeds`, brief(other?.[1]));
}

function sameWindow(found: Findings, { path, pages, way }: ToldWindow): void {
  const [first] = pages;
  const other = pages.find((page) => page.answer.status !== 200 || page.to !== first!.to);
  found.that(other === undefined, (other ?? first!).answer, `${path}: the same "to" on all pages, by ${way}`);
}

/** The last page of a window, and what its cursor leads to. */
async function next({ server, to }: Reading, found: Findings): Promise<void> {
  for (const { path } of changesOf(server)) {
    const last = await lastPage({ server, path, to });
    if (last === undefined) {
      found.lacking(`${path} has too many pages`);
      continue;
    }
    const after = await changesPage(server, path, { cursor: last.cursor });
    const isNext = after.answer.status === 200 && after.to >= to;
    found.that(isNext, after.answer, `${path}: the cursor of the last page leads to the next window`);
    const old = after.items.find((item) => !(String(item['lastupdated']) > to));
    found.that(old === undefined, after.answer, `${path}: no item of the previous window`, brief(old));
  }
}

async function lastPage({
  server,
  path,
  to,
}: Pick<Reading, 'server' | 'to'> & { path: string }): Promise<AnsweredPage | undefined> {
  const bounds = { way: 'next' as const, most: 100 };
  const pages = await changesPages(server, path, { to, limit: '1000' }, bounds);
  const last = pages.at(-1)!;
  return last.next === undefined ? last : undefined;
}

const inWindows =
  (look: (found: Findings, told: ToldWindow) => void) => (reading: Reading, found: Findings) =>
    eachWindow(reading, found, (told) => look(found, told));

export const changesChecks = checksOf('changes', {
  'changes-envelope': [
    '`changes` answers `{"result", "to", "nextoffsetid", "next", "cursor"}`; `next` is relative, and the last page has none.',
    envelope,
  ],
  'changes-to': [
    "`to` may be left out, which means the database's clock; the body contains the `to` that was used.",
    usedTo,
  ],
  'changes-item': [
    'An item is an upsert with the fields of an update item, or a delete with `id`, `lastupdated`, `reason`.',
    inWindows(items),
  ],
  'changes-once': ['Within a window each `id` appears once.', inWindows(once)],
  'changes-equal': ['`changes` contains what the three feeds contain for the same window.', inWindows(equal)],
  'changes-pages': [
    `Every way to continue stays within one window: ${WAYS_ON.join(', ')}.`,
    inWindows(sameWindow),
  ],
  'changes-next-window': ['The `cursor` of the last page continues with the next window.', next],
  'changes-skip': [
    '`deletes=skip` omits the deletes from all pages of a first harvest, and nothing else.',
    skipped,
  ],
  ...changesLines,
  ...changesRefusals,
});
