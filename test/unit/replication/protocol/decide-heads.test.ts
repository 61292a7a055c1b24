import { mongo } from 'mongoose';
import { decide, type KindEvent } from '../../../../src/replication/protocol/decide.js';
import type { Knowledge } from '../../../../src/replication/protocol/learn.js';
import { announced, at, changed, deleted, knowing, named, TENANT, tombstoneSeen, whole } from './written.js';

const A = new mongo.ObjectId();
const SECOND = at(1).getHighBitsUnsigned() * 1000;
const FENCE = new Date(SECOND - 5000);
const ms = (by: number) => new Date(FENCE.getTime() + by);
/** As far as the clock may have come, in milliseconds from FENCE. */
const CLOCK_AT_MOST = 6000;
const ELSEWHERE = { organizationid: 'acme', appid: 'erp' };

/** The heads that a batch makes, in milliseconds from FENCE, by application. */
function heads(events: KindEvent[], known: Partial<Knowledge> = {}): Record<string, number> {
  const owned = new Map([[A.toHexString(), [named('x')]]]);
  const { decisions } = decide('product', events, knowing({ owned, ...known }));
  const told = [...decisions.heads.values()].map(
    ({ mark, stamp }) => [mark.appid, stamp.getTime() - FENCE.getTime()] as const,
  );
  return Object.fromEntries(told);
}

const stamped = (n: number, stamp: Date | null) => ({ ...whole(n, A, named('x')), stamp });
const fenced = announced(1, FENCE);

describe('the head: the greatest stamp of a mark that was raised', () => {
  it.each<[string, KindEvent[], Record<string, number>]>([
    ['a stamp above the fence', [fenced, stamped(2, ms(7))], { shop: 7 }],
    ['the greatest of several', [fenced, stamped(2, ms(7)), stamped(3, ms(5))], { shop: 7 }],
    ['nothing before the mark is raised', [stamped(1, ms(7)), announced(2, FENCE)], {}],
    ['nothing of a stamp that is missing or no date: it is set anew', [fenced, stamped(2, null)], {}],
    [
      'a stamp that is removed: another one of the same name may show, as far as the clock may have come',
      [fenced, { ...changed(2, A, {}), stamp: null }],
      { shop: CLOCK_AT_MOST },
    ],
    [
      'a stamp of the future, as far as the clock may have come',
      [fenced, stamped(2, new Date(SECOND + 3_600_000))],
      { shop: CLOCK_AT_MOST },
    ],
    ['nothing of a change that leaves the stamp alone', [fenced, changed(2, A, {})], {}],
    ['nothing of a delete: its tombstone will tell', [fenced, deleted(2, A)], {}],
    ['a change of emailkey alone', [fenced, { ...changed(2, A, {}), isKeyOnly: true }], {}],
  ])('%s', (_name, events, expected) => {
    expect(heads(events)).toEqual(expected);
  });

  it('a record that comes from another application with a stamp that is not told, as far as the clock may have come', () => {
    const fences = new Map([['["product","acme","erp"]', FENCE]]);
    expect(heads([changed(2, A, { appid: 'erp' })], { fences })).toEqual({ erp: CLOCK_AT_MOST });
    expect(heads([{ ...changed(2, A, { appid: 'erp' }), stamp: ms(9) }], { fences })).toEqual({ erp: 9 });
  });

  it('a record that is no identity yet, once its application is known', () => {
    const partials = new Map([[A.toHexString(), { organizationid: 'acme' }]]);
    const events = [fenced, { ...changed(2, A, { appid: 'shop' }), stamp: ms(3) }];
    expect(heads(events, { owned: new Map(), partials })).toEqual({ shop: 3 });
  });

  it('every tombstone, also one that is late', () => {
    const [entry, other] = [new mongo.ObjectId(), new mongo.ObjectId()];
    const tombstones = new Map([
      [entry.toHexString(), named('gone')],
      [other.toHexString(), named('gone', ELSEWHERE)],
    ]);
    const events = [fenced, tombstoneSeen(2, entry, ms(-4)), tombstoneSeen(3, other, ms(8))];
    expect(heads(events, { tombstones })).toEqual({ shop: -4 });
    expect(heads([fenced, tombstoneSeen(2, entry, ms(8))], { tombstones })).toEqual({ shop: 8 });
  });

  it('names nothing but the mark', () => {
    const { decisions } = decide(
      'product',
      [fenced, stamped(2, ms(7))],
      knowing({ owned: new Map([[A.toHexString(), [named('x')]]]) }),
    );
    expect([...decisions.heads]).toEqual([
      ['["product","acme","shop"]', { mark: { ...TENANT, kind: 'product' }, stamp: ms(7) }],
    ]);
  });
});
