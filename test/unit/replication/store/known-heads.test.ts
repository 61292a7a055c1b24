import type { ControlChange, ControlStream } from '../../../../src/platform/control/index.js';
import type { MarkKey } from '../../../../src/replication/protocol/marks.js';
import { KnownHeads } from '../../../../src/replication/store/heads.js';

const MARK: MarkKey = { organizationid: 'acme', appid: 'shop', kind: 'product' };
const [EARLY, LATE, NONE] = [new Date(1000), new Date(2000), new Date(0)];

let isCurrent: boolean;
/** What a read gives: a document, none, or nothing in time. */
let stored: { stamp?: unknown } | null | undefined;
let meanwhile: () => void;
let reads: number;
let heads: KnownHeads;
beforeEach(() => {
  [isCurrent, stored, meanwhile, reads] = [true, { stamp: EARLY }, () => undefined, 0];
  const control = {
    get isCurrent() {
      return isCurrent;
    },
    follow: () => undefined,
    readSoon: () => {
      reads += 1;
      meanwhile();
      return Promise.resolve(stored);
    },
  };
  heads = new KnownHeads(control as unknown as ControlStream, {} as never);
});

const told = (stamp: unknown, what: ControlChange['what'] = 'update'): ControlChange => ({
  ...{ id: MARK, what, removed: [] },
  fields: { stamp },
});

it('is not known before it was read, and then followed', async () => {
  expect(heads.of(MARK)).toBeUndefined();
  await heads.learn(MARK);
  expect(heads.of(MARK)).toEqual(EARLY);
  heads.hear(told(LATE));
  expect(heads.of(MARK)).toEqual(LATE);
  heads.hear(told(EARLY));
  expect(heads.of(MARK)).toEqual(LATE);
});

it('that there is none is known as well, until there is one', async () => {
  stored = null;
  await heads.learn(MARK);
  expect(heads.of(MARK)).toEqual(NONE);
  heads.hear(told(EARLY, 'insert'));
  expect(heads.of(MARK)).toEqual(EARLY);
});

it('a read that fails, or does not come in time, leaves it unknown; the next one is another', async () => {
  stored = undefined;
  await heads.learn(MARK);
  expect(heads.of(MARK)).toBeUndefined();
  stored = { stamp: EARLY };
  await heads.learn(MARK);
  expect([heads.of(MARK), reads]).toEqual([EARLY, 2]);
});

it.each<[string, object]>([
  ['has no stamp', {}],
  ['has a stamp that is no date', { stamp: 'soon' }],
])('one that %s, since somebody else has written it, stays unknown', async (_what, written) => {
  stored = written;
  await heads.learn(MARK);
  expect(heads.of(MARK)).toBeUndefined();
});

it('where nobody can tell which one was changed none is known any more', async () => {
  await heads.learn(MARK);
  heads.hear({ what: 'replace', fields: {}, removed: [] });
  expect(heads.of(MARK)).toBeUndefined();
});

it('those who ask at the same time share a read', async () => {
  await Promise.all([heads.learn(MARK), heads.learn(MARK)]);
  expect(reads).toBe(1);
});

it('what is told while it is read counts', async () => {
  const learning = heads.learn(MARK);
  heads.hear(told(LATE));
  await learning;
  expect(heads.of(MARK)).toEqual(LATE);
});

it.each<[string, () => void]>([
  ['is removed', () => heads.hear(told(undefined, 'delete'))],
  ['is replaced by somebody', () => heads.hear(told(LATE, 'replace'))],
  ['is forgotten with all others', () => heads.forget()],
])('a head that %s is not known any more, nor where that happens while it is read', async (_what, happen) => {
  await heads.learn(MARK);
  happen();
  expect(heads.of(MARK)).toBeUndefined();
  const learning = heads.learn(MARK);
  happen();
  await learning;
  expect(heads.of(MARK)).toBeUndefined();
});

it('what the instance has written itself counts at once, but makes nothing known', async () => {
  heads.wrote(MARK, LATE);
  expect(heads.of(MARK)).toBeUndefined();
  await heads.learn(MARK);
  expect(heads.of(MARK)).toEqual(LATE);
});

it('nothing is known, and nothing read, while the stream does not answer', async () => {
  await heads.learn(MARK);
  isCurrent = false;
  expect(heads.of(MARK)).toBeUndefined();
  await heads.learn(MARK);
  expect(reads).toBe(1);
});

it('changes of what is no head of a mark concern nobody', () => {
  for (const id of [null, 5, 'text', undefined]) heads.hear({ ...told(LATE), id });
  expect(heads.of(MARK)).toBeUndefined();
});
