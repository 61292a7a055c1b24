import { mongo } from 'mongoose';
import type { KindEvent } from '../../../../src/replication/protocol/decide.js';
import type { Knowledge } from '../../../../src/replication/protocol/learn.js';
import { certainMoves, unnamedAmong, unnamedInShare } from '../../../../src/replication/protocol/unnamed.js';
import { changed, deleted, named, placeAt, TENANT, whole } from './written.js';

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

describe('which events have to be read as of the event by a loop with a share of the applications', () => {
  const comes = changed(2, A, { appid: TENANT.appid });

  it.each<[string, KindEvent[], ReturnType<typeof knowing>, number[]]>([
    ['none of a known record', [plain, plain], knowing({ owned: new Map(owning('')) }), []],
    ['no move that comes first, of a known record', [comes], knowing({ owned: new Map(owning('')) }), []],
    ['no plain change of an unknown record, but its move', [plain, comes], knowing({}), [1]],
    [
      'a move behind another event of its record',
      [plain, comes],
      knowing({ owned: new Map(owning('')) }),
      [1],
    ],
    ['a move behind an insert', [whole(1, A, named('x')), comes], knowing({}), [1]],
    ['no change behind one that is read', [comes, changed(3, A, {})], knowing({}), [0]],
    [
      'the move of a record that the ledger knows twice',
      [comes],
      knowing({ owned: new Map(owning('', '')) }),
      [0],
    ],
    [
      'a move that was learned at this very place',
      [comes],
      knowing({ owned: new Map(owning(placeAt(2))) }),
      [0],
    ],
    [
      'a plain change of what is known as of a later place',
      [plain],
      knowing({ owned: new Map(owning('~')) }),
      [0],
    ],
    ['the move of what is incomplete', [comes], knowing({ partials: new Map([[key, LACKS_ID]]) }), [0]],
    ['no plain change of it', [plain], knowing({ partials: new Map([[key, LACKS_ID]]) }), []],
    [
      'the move of what a look has told',
      [comes],
      knowing({ owned: new Map([[key, [{ ...named('x'), learned: '', isLooked: true as const }]]]) }),
      [0],
    ],
    ['no move that tells itself that it goes elsewhere', [plain, move], knowing({}), []],
    ['no insert and no delete', [whole(1, A, named('x')), deleted(2, A)], knowing({}), []],
    [
      'what may have removed a field, though it comes first',
      [changed(1, A, { id: false })],
      knowing({ owned: new Map(owning('')) }),
      [0],
    ],
  ])('%s', (_name, events, known, expected) => {
    const found = unnamedInShare(events, known, { only: TENANT });
    expect(found.map((event) => events.indexOf(event))).toEqual(expected);
  });
});

describe('moves of records that are known for certain', () => {
  const known = knowing({ owned: new Map(owning('')) });

  it('with what the record is behind each', () => {
    expect(certainMoves([move], known)).toEqual([[move, { ...TENANT, id: 'x', appid: 'erp' }]]);
  });

  it.each<[string, KindEvent[], ReturnType<typeof knowing>]>([
    ['none behind another event of the record', [plain, move], known],
    ['none of an unknown record', [move], knowing({})],
    ['nothing else', [plain, whole(2, A, named('y')), deleted(3, A)], known],
  ])('%s', (_name, events, knowledge) => {
    expect(certainMoves(events, knowledge)).toEqual([]);
  });
});

it('a move to an application that is aside is read by the loop that has all others', () => {
  const away = changed(1, A, { organizationid: 'acme', appid: 'erp' });
  const rest = { but: [{ organizationid: 'acme', appid: 'erp' }] };
  expect(unnamedInShare([away], knowing({}), rest)).toEqual([away]);
  expect(unnamedInShare([away], knowing({ owned: new Map(owning('')) }), rest)).toEqual([]);
});
