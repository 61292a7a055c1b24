import { mongo } from 'mongoose';
import { type KindEvent, ownHalves } from '../../../../src/replication/protocol/decide.js';
import { announced, changed, deleted, knowing, named, TENANT, tombstoneSeen, whole } from './written.js';

const A = new mongo.ObjectId();
const ENTRY = new mongo.ObjectId();
const key = A.toHexString();
const OTHER = { ...TENANT, appid: 'erp' };
const OWN = { only: TENANT };
const REST = { but: [TENANT] };
const fence = new Date();

const unknown = knowing();
const known = (tenant: object = TENANT) =>
  knowing({ owned: new Map([[key, [{ ...named('x', tenant), learned: '' }]]]) });
const incomplete = knowing({ partials: new Map([[key, { ...TENANT, learned: '' }]]) });
const dead = (tenant: object) =>
  knowing({ tombstones: new Map([[ENTRY.toHexString(), named('x', tenant)]]) });

const plain = changed(1, A, {});
const leaves = changed(2, A, { appid: 'erp' });
const gone = (n: number) => deleted(n, A);

describe('the events of a batch as a loop sees them', () => {
  it.each<
    [string, KindEvent[], Parameters<typeof ownHalves>[1], Parameters<typeof ownHalves>[2], KindEvent[]]
  >([
    ['a change of a record that it knows', [plain], known(), OWN, [plain]],
    ['no change of a record that it does not know', [plain], unknown, OWN, []],
    ['a change of a record that is incomplete', [plain], incomplete, OWN, [plain]],
    ['a delete of a record that it knows', [gone(1)], known(), OWN, [gone(1)]],
    ['no delete of a record that it does not know', [gone(1)], unknown, REST, []],
    ['an insert into its application', [whole(1, A, named('x'))], unknown, OWN, [whole(1, A, named('x'))]],
    ['no insert into another one', [whole(1, A, named('x', OTHER))], unknown, OWN, []],
    ['the delete of a record that is moved to another one', [leaves], known(), OWN, [gone(2)]],
    [
      'nothing of it behind that, until it comes back',
      [leaves, changed(3, A, {}), whole(4, A, named('x')), changed(5, A, {})],
      known(),
      OWN,
      [gone(2), whole(4, A, named('x')), changed(5, A, {})],
    ],
    ['no second delete of what was moved away', [leaves, gone(3)], known(), OWN, [gone(2)]],
    [
      'a record that another one replaces in the same batch',
      [gone(1), whole(2, A, named('y'))],
      known(),
      OWN,
      [gone(1), whole(2, A, named('y'))],
    ],
    [
      'what names no application, for the loop of all but some',
      [whole(1, A, {})],
      unknown,
      REST,
      [whole(1, A, {})],
    ],
    ['not for that of one', [whole(1, A, {})], unknown, OWN, []],
    [
      'a record with another _id, for the loop of all but some',
      [whole(1, 7, {})],
      unknown,
      REST,
      [whole(1, 7, {})],
    ],
    ['not for that of one, whatever it names', [whole(1, 7, named('x'))], unknown, OWN, []],
    ['the announcement of its application', [announced(1, fence)], unknown, OWN, [announced(1, fence)]],
    ['not that of another one', [announced(1, fence)], unknown, REST, []],
    ['its tombstone', [tombstoneSeen(1, ENTRY, fence)], dead(TENANT), OWN, [tombstoneSeen(1, ENTRY, fence)]],
    ['not that of another one', [tombstoneSeen(1, ENTRY, fence)], dead(OTHER), OWN, []],
  ])('%s', (_name, events, knowledge, share, expected) => {
    expect(ownHalves(events, knowledge, share)).toEqual(expected);
  });

  it('each event is in the half of one loop, and a move in both', () => {
    const events = [plain, leaves];
    const rest = ownHalves([plain, { ...leaves, whole: true, identity: named('x', OTHER) }], unknown, REST);
    expect(ownHalves(events, known(), OWN).map(({ type }) => type)).toEqual(['written', 'deleted']);
    expect(rest.map(({ type }) => type)).toEqual(['written']);
  });
});
