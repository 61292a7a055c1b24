import { mongo } from 'mongoose';
import type { Identity } from '../../../../src/replication/protocol/index.js';
import type { Fences } from '../../../../src/replication/protocol/marks.js';
import { type Late, decide, type KindEvent } from '../../../../src/replication/protocol/decide.js';
import type { Knowledge } from '../../../../src/replication/protocol/learn.js';
import { announced, at, changed, deleted, knowing, named, TENANT, tombstoneSeen, whole } from './written.js';

const A = new mongo.ObjectId();
const SECOND = at(1).getHighBitsUnsigned() * 1000;
const FENCE = new Date(SECOND - 5000);
const ms = (from: Date, by: number) => new Date(from.getTime() + by);
const owning = (...entries: [mongo.ObjectId, Identity][]) =>
  new Map(entries.map(([owner, identity]) => [owner.toHexString(), [identity]]));

/** Which records are stamped anew, as `reason` or `reason above n`: n milliseconds from FENCE. */
function late(events: KindEvent[], known: Partial<Knowledge> = {}): string[] {
  const { decisions } = decide('product', events, knowing({ owned: owning([A, named('x')]), ...known }));
  return [...decisions.late, ...decisions.lateTombstones].map(told);
}

const told = ({ reason, fence }: Late) =>
  fence === undefined ? reason : `${reason} above ${fence.getTime() - FENCE.getTime()}`;

describe('rule 1: a record whose stamp came too late for somebody is stamped anew', () => {
  const stamped = (n: number, stamp: Date | null) => ({ ...whole(n, A, named('x')), stamp });
  const fenced = announced(1, FENCE);

  it.each<[string, KindEvent[], string[]]>([
    ['above the fence', [fenced, stamped(2, ms(FENCE, 1))], []],
    ['at the fence', [fenced, stamped(2, FENCE)], ['late above 0']],
    ['below it', [fenced, stamped(2, ms(FENCE, -1))], ['late above 0']],
    ['below a fence that was passed only after it', [stamped(1, ms(FENCE, -1)), announced(2, FENCE)], []],
    ['below the first of two', [fenced, stamped(2, FENCE), announced(3, ms(FENCE, 9))], ['late above 0']],
    ['below the second', [fenced, announced(2, ms(FENCE, 9)), stamped(3, ms(FENCE, 5))], ['late above 9']],
    ['left alone by a change, and there is a fence', [fenced, changed(2, A, {})], ['left above 0']],
    ['left alone, and there is none', [changed(2, A, {})], []],
    ['missing, or no date', [stamped(1, null)], ['bad']],
    ['in the future', [stamped(1, new Date(SECOND + 1001))], ['bad']],
    ['a second ahead of the second of the cluster time', [stamped(1, new Date(SECOND + 1000))], []],
    ['a change of emailkey alone', [fenced, { ...changed(2, A, {}), isKeyOnly: true }], []],
    ['a delete', [fenced, deleted(2, A)], []],
    [
      'the greatest fence it was late for counts',
      [fenced, changed(2, A, {}), announced(3, ms(FENCE, 9)), changed(4, A, {}), stamped(5, FENCE)],
      ['late above 9'],
    ],
  ])('%s', (_name, events, restamps) => {
    expect(late(events)).toEqual(restamps);
  });

  it('the fence is that of the application that the record is in by then', () => {
    const other = {
      ...announced(1, FENCE),
      mark: { organizationid: 'acme', appid: 'erp', kind: 'product' as const },
    };
    const stays = { ...changed(2, A, {}), stamp: FENCE };
    const moves = { ...changed(2, A, { appid: 'erp' }), stamp: FENCE };
    expect(late([other, stays])).toEqual([]);
    expect(late([other, moves])).toEqual(['late above 0']);
  });

  it('also a record that has no id yet', () => {
    const partials = new Map([[A.toHexString(), TENANT]]);
    expect(late([fenced, changed(2, A, {})], { owned: new Map(), partials })).toEqual(['left above 0']);
  });

  it('not a record written without an id: it is stamped with the write that gives it one', () => {
    expect(late([fenced, { ...whole(2, A, TENANT), stamp: null }])).toEqual([]);
    const given = { ...changed(3, A, { id: 'x' }), stamp: FENCE };
    expect(late([fenced, { ...whole(2, A, TENANT), stamp: null }, given])).toEqual(['late above 0']);
  });

  it('a mark as it stood at the start counts as passed', () => {
    const fences: Fences = new Map([['["product","acme","shop"]', FENCE]]);
    expect(late([stamped(1, FENCE)], { fences })).toEqual(['late above 0']);
  });
});

describe('rule 2: a tombstone likewise', () => {
  const entry = new mongo.ObjectId();
  const tombstones = new Map([[entry.toHexString(), named('x')]]);

  it.each<[string, KindEvent[], string[]]>([
    ['above the fence', [announced(1, FENCE), tombstoneSeen(2, entry, ms(FENCE, 1))], []],
    ['at the fence', [announced(1, FENCE), tombstoneSeen(2, entry, FENCE)], ['tombstone above 0']],
    ['before any fence', [tombstoneSeen(1, entry, FENCE), announced(2, FENCE)], []],
    ['without a date', [tombstoneSeen(1, entry, null)], ['tombstone']],
  ])('%s', (_name, events, restamps) => {
    expect(late(events, { tombstones })).toEqual(restamps);
  });

  it('rule 4: whoever it is about may live again', () => {
    const { decisions } = decide('product', [tombstoneSeen(1, entry, FENCE)], knowing({ tombstones }));
    expect(decisions.seenTombstones).toEqual([named('x')]);
  });

  it('one that is gone by now is nobody’s', () => {
    expect(late([announced(1, FENCE), tombstoneSeen(2, entry, FENCE)])).toEqual([]);
  });
});

describe('a passed announcement is a moment', () => {
  it('with its own fence, whatever stood before', () => {
    const { decisions } = decide('product', [announced(2, ms(FENCE, -5)), announced(1, FENCE)], knowing());
    expect(decisions.moments.map(({ fence, at: place }) => [fence, place])).toEqual([
      [ms(FENCE, -5), at(2)],
      [FENCE, at(1)],
    ]);
  });

  it('a lower fence never replaces a higher one that is known', () => {
    const { knowledge } = decide('product', [announced(1, FENCE), announced(2, ms(FENCE, -5))], knowing());
    expect([...knowledge.passed.values()]).toEqual([FENCE]);
  });

  it('nor one that was passed before', () => {
    const fences: Fences = new Map([['["product","acme","shop"]', FENCE]]);
    const { knowledge } = decide('product', [announced(1, ms(FENCE, -5))], knowing({ fences }));
    expect([...knowledge.passed]).toEqual([]);
  });
});
