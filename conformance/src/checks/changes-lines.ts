import { changesOf, changesPage } from '../changes-pages.js';
import type { ContractCheck } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { brief, type HttpAnswer, isObject, parsed } from '../http-answer.js';
import { doubled, type FeedItem, idOf, type Reading, textOf } from '../reading.js';
import { toldBy } from './changes-window.js';
import { hasExactly } from './shapes.js';

const TYPE = 'application/x-ndjson';
const HEADERS = { accept: TYPE };
/** The number of items between two cursors. */
const STRETCH = 1000;

/** A window that came in lines. */
interface LinesAnswer {
  path: string;
  answer: HttpAnswer;
  /** What is no JSON object is an empty one. */
  lines: FeedItem[];
  /** The items of the three feeds in the window. */
  told: FeedItem[];
}

const isItem = ({ op }: FeedItem) => op !== 'cursor' && op !== 'end';

/** Does something with each `changes` in lines, up to the pinned `to`, if the feeds can be read to their end. */
async function eachLines(
  reading: Reading,
  found: Findings,
  look: (came: LinesAnswer) => void | Promise<void>,
): Promise<void> {
  for (const { path, filter } of changesOf(reading.server)) {
    const { items: told, isWhole } = await toldBy(reading, filter);
    if (!isWhole) {
      found.lacking(`${path} has more items than --pages allows`);
      continue;
    }
    const form = { query: { to: reading.to }, headers: HEADERS };
    const answer = await reading.once(`lines ${path}`, () => reading.server.ask(path, form));
    await look({ path, answer, lines: linesIn(answer), told });
  }
}

const typeOf = ({ headers }: HttpAnswer) => headers.get('content-type') ?? '';

function isInLines(answer: HttpAnswer): boolean {
  return answer.status === 200 && /^application\/x-ndjson(;|$)/.test(typeOf(answer));
}

/** The same for the lines between the items. One check is enough to report that no lines come. */
function whereInLines(
  reading: Reading,
  found: Findings,
  look: (came: LinesAnswer) => Promise<void>,
): Promise<void> {
  return eachLines(reading, found, (came) =>
    isInLines(came.answer) ? look(came) : found.lacking(`${came.path} does not answer with lines`),
  );
}

/** Spaces may precede a line. */
function linesIn({ text }: HttpAnswer): FeedItem[] {
  const texts = text.split('\n').filter((line) => line.trim() !== '');
  return texts.map(parsed).map((line) => (isObject(line) ? line : {}));
}

function equal(found: Findings, { path, answer, lines, told }: LinesAnswer): void {
  const came = `${answer.status} ${typeOf(answer)}`;
  if (!found.that(isInLines(answer), answer, `${path}: 200 and ${TYPE} if it is requested`, came)) return;
  const items = lines.filter(isItem);
  const twice = doubled(items.map(idOf));
  found.that(twice === undefined, answer, `${path} in lines: each id once`, `${brief(twice)} twice`);
  const texts = new Set(items.map(textOf));
  const lost = told.find((item) => !texts.has(textOf(item)));
  const whole = `${path} in lines: all items of the pages`;
  found.that(lost === undefined, answer, whole, `missing: ${brief(lost)}`);
  const known = new Set(told.map(textOf));
  const other = items.find((item) => !known.has(textOf(item)));
  found.that(other === undefined, answer, `${path} in lines: only items of the pages`, brief(other));
}

async function end(
  { server, to }: Reading,
  found: Findings,
  { path, answer, lines }: LinesAnswer,
): Promise<void> {
  const last = lines.at(-1) ?? {};
  const isEnd = hasExactly(last, ['op', 'to', 'cursor']) && last['op'] === 'end' && last['to'] === to;
  const expected = `${path} in lines: {"op":"end","to":"${to}","cursor":"..."} as the last line`;
  if (!found.that(isEnd, answer, expected, brief(last))) return;
  const sooner = lines.slice(0, -1).some(({ op }) => op === 'end');
  found.that(!sooner, answer, `${path} in lines: only one end`);
  const after = await changesPage(server, path, { cursor: String(last['cursor']), limit: '1' });
  const old = after.items.find((item) => !(String(item['lastupdated']) > to));
  const isNext = after.answer.status === 200 && after.to >= to && old === undefined;
  found.that(isNext, after.answer, `${path}: the cursor of the end leads to the next window`);
}

async function cursors(
  reading: Reading,
  found: Findings,
  { path, answer, lines }: LinesAnswer,
): Promise<void> {
  if (lines.filter(isItem).length <= STRETCH) return found.lacking(`${path} has at most ${STRETCH} items`);
  let since = 0;
  let longest = 0;
  for (const line of lines) {
    since = isItem(line) ? since + 1 : 0;
    longest = Math.max(longest, since);
  }
  const expected = `${path} in lines: {"op":"cursor","cursor":"..."} after every ${STRETCH} items`;
  const first = lines.findIndex((line) => !isItem(line));
  const isRight = longest <= STRETCH && hasExactly(lines[first] ?? {}, ['op', 'cursor']);
  if (!found.that(isRight, answer, expected, `${longest} items in a row, then ${brief(lines[first])}`))
    return;
  const query = { cursor: String(lines[first]!['cursor']) };
  const rest = await reading.server.ask(path, { query, headers: HEADERS });
  const texts = (of: FeedItem[]) => of.filter(isItem).map(textOf).sort().join('\n');
  const isRest = rest.status === 200 && texts(linesIn(rest)) === texts(lines.slice(first));
  found.that(isRest, rest, `${path} in lines: the first cursor continues after it`, 'other items');
}

/** `changes` in the form of lines. */
export const changesLines: Record<string, [string, ContractCheck['run']]> = {
  'changes-lines': [
    'With `Accept: application/x-ndjson` the answer is the whole window, one item a line, with the items of the pages.',
    (reading, found) => eachLines(reading, found, (came) => equal(found, came)),
  ],
  'changes-lines-end': [
    'The last line is `{"op":"end","to":"...","cursor":"..."}`, whose cursor leads to the next window.',
    (reading, found) => whereInLines(reading, found, (came) => end(reading, found, came)),
  ],
  'changes-lines-cursor': [
    'After every 1,000 items there is a line `{"op":"cursor","cursor":"..."}`, whose cursor continues after it.',
    (reading, found) => whereInLines(reading, found, (came) => cursors(reading, found, came)),
  ],
};
