import { mongo } from 'mongoose';
import type { KindEvent } from '../../../../../src/replication/watcher/rules/decide.js';
import type { Knowledge } from '../../../../../src/replication/watcher/rules/knowledge.js';
import { unnamedAmong } from '../../../../../src/replication/watcher/rules/unnamed.js';
import { changed, deleted, named, TENANT, whole } from './written.js';

const A = new mongo.ObjectId();
const key = A.toHexString();
const owning = (...learned: string[]) => [
  [key, learned.map((place) => ({ ...named('x'), learned: place }))] as const,
];
const knowing = (known: Partial<Pick<Knowledge, 'owned' | 'partials'>>) => ({
  owned: new Map(),
  partials: new Map(),
  ...known,
});
const WAITS = { ...TENANT, id: '7', isNumber: true as const, learned: '' };
const LACKS_ID = { ...TENANT, learned: '' };
const plain = changed(1, A, {});
const move = changed(2, A, { appid: 'erp' });

/** Which events of a batch have to be read, by their number in it. */
function unnamed(events: KindEvent[], known: ReturnType<typeof knowing>): number[] {
  const found = unnamedAmong(events, known);
  return found.map((event) => events.indexOf(event));
}

describe('which events have to be read as of the event', () => {
  it.each<[string, KindEvent[], ReturnType<typeof knowing>, number[]]>([
    ['none of a known record', [plain, move], knowing({ owned: new Map(owning('')) }), []],
    ['the first of an unknown record', [plain, move], knowing({}), [0]],
    ['none that is told as a whole, nor one behind it', [whole(1, A, named('x')), move], knowing({}), []],
    [
      'the first of a record that the ledger knows twice',
      [move],
      knowing({ owned: new Map(owning('', '')) }),
      [0],
    ],
    [
      'the first of a record that is known as of a later place',
      [move],
      knowing({ owned: new Map(owning('~')) }),
      [0],
    ],
    [
      'none of a record whose `id` is missing',
      [plain, move],
      knowing({ partials: new Map([[key, LACKS_ID]]) }),
      [],
    ],
    ['the move of a number that waits', [move], knowing({ partials: new Map([[key, WAITS]]) }), [0]],
    [
      'no plain change of a number that waits, but its first move behind that',
      [plain, move, changed(3, A, { id: 'y' })],
      knowing({ partials: new Map([[key, WAITS]]) }),
      [1],
    ],
    ['no delete', [deleted(1, A)], knowing({}), []],
    [
      'each that may have removed a field',
      [whole(1, A, named('x')), changed(2, A, { id: false })],
      knowing({}),
      [1],
    ],
  ])('%s', (_name, events, known, expected) => {
    expect(unnamed(events, known)).toEqual(expected);
  });
});
