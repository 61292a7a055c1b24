import { mongo } from 'mongoose';
import { identityOf } from '../../../../src/replication/protocol/identity.js';
import type { Identity } from '../../../../src/replication/protocol/index.js';
import { decide, type KindEvent } from '../../../../src/replication/protocol/decide.js';
import type { Knowledge } from '../../../../src/replication/protocol/learn.js';
import { changed, deleted, knowing, named, placeAt, TENANT, whole } from './written.js';

const [A, B] = [new mongo.ObjectId(), new mongo.ObjectId()];
const ledgerChanges = (events: KindEvent[], owned: Knowledge['owned'] = new Map()) =>
  decide('product', events, knowing({ owned })).decisions.ledger;

/** What the ledger learns, as `id:alive` with the place in the log, where it knew `before`. */
function learned(events: KindEvent[], before: [mongo.ObjectId, Identity][] = []): string[] {
  const owned = new Map<string, Identity[]>();
  for (const [owner, identity] of before) {
    owned.set(owner.toHexString(), [...(owned.get(owner.toHexString()) ?? []), identity]);
  }
  return ledgerChanges(events, owned)
    .map(({ identity, alive, at: time }) => `${identity.id}:${alive ? 'alive' : 'dead'}@${Number(time)}`)
    .sort();
}

describe('identity: all three fields are texts, and the `_id` is an ObjectId', () => {
  it.each<[unknown, object, boolean]>([
    [A, { ...TENANT, id: 'x' }, true],
    [A, { ...TENANT, id: '' }, true],
    [A, TENANT, false],
    [A, { ...TENANT, id: 5 }, false],
    [A, { ...TENANT, id: ['x'] }, false],
    [A, { ...TENANT, id: 'x', appid: null }, false],
    [A, { id: 'x', appid: 'shop' }, false],
    ['text', { ...TENANT, id: 'x' }, false],
    [A.toHexString(), { ...TENANT, id: 'x' }, false],
  ])('%s %j: %s', (owner, stored, isOne) => {
    expect(identityOf('product', owner, stored) !== undefined).toBe(isOne);
  });
});

describe('a record that is written lives under what it is', () => {
  it('inserted', () => {
    expect(learned([whole(1, A, named('x'))])).toEqual(['x:alive@1']);
  });

  it('changed in other fields: nothing is learned', () => {
    expect(learned([changed(1, A, {})], [[A, named('x')]])).toEqual([]);
  });

  it('only the last change of an identity counts', () => {
    expect(learned([whole(1, A, named('x')), deleted(2, A), whole(3, B, named('x'))])).toEqual(['x:alive@3']);
    expect(learned([deleted(1, A), whole(2, B, named('x')), deleted(3, B)], [[A, named('x')]])).toEqual([
      'x:dead@3',
    ]);
  });

  it('what is no record yet is learned by nobody', () => {
    expect(learned([whole(1, A, { ...TENANT }), whole(2, 'text', named('x')), deleted(3, 'text')])).toEqual(
      [],
    );
  });

  it('a record without `id` lives under the one that it gets, in this batch or a later one', () => {
    expect(learned([whole(1, A, TENANT), changed(2, A, { id: 'x' })])).toEqual(['x:alive@2']);
    expect(learned([whole(1, A, TENANT), changed(2, A, { id: 'x' }), deleted(3, A)])).toEqual(['x:dead@3']);
    const partials = new Map([[A.toHexString(), { appid: 'shop', id: 'x' }]]);
    const events = [changed(1, A, { organizationid: 'acme' }), changed(2, A, { id: 'y' })];
    const { decisions, knowledge } = decide('product', events, knowing({ partials }));
    expect(decisions.ledger).toMatchObject([
      { identity: named('x'), alive: false },
      { identity: named('y'), alive: true },
    ]);
    expect(knowledge.partials.get(A.toHexString())).toBeNull();
  });

  it('of a record that is no identity yet, what is known is kept', () => {
    const events = [whole(1, A, { ...TENANT, id: false }), changed(2, B, { id: 'x' })];
    const { partials } = decide('product', events, knowing()).knowledge;
    expect(Object.fromEntries(partials)).toEqual({
      [A.toHexString()]: { ...TENANT, learned: placeAt(1) },
      [B.toHexString()]: { id: 'x', learned: placeAt(2) },
    });
    const { knowledge } = decide('product', [deleted(3, A)], knowing({ partials }));
    expect(knowledge.partials.get(A.toHexString())).toBeNull();
  });
});

describe('rule 3: a record deleted, or moved to another `id`, application or organization leaves a tombstone for what it was', () => {
  it.each<[string, KindEvent, string[]]>([
    ['deleted', deleted(1, A), ['x:dead@1']],
    ['moved to another id', changed(1, A, { id: 'y' }), ['x:dead@1', 'y:alive@1']],
    ['its id taken away', changed(1, A, { id: false }), ['x:dead@1']],
    ['its organization made a number', changed(1, A, { organizationid: false }), ['x:dead@1']],
    ['moved to another application', changed(1, A, { appid: 'erp' }), ['x:alive@1', 'x:dead@1']],
    ['moved to another organization', changed(1, A, { organizationid: 'other' }), ['x:alive@1', 'x:dead@1']],
    ['replaced by another', whole(1, A, named('y')), ['x:dead@1', 'y:alive@1']],
    ['replaced by what is no record', whole(1, A, {}), ['x:dead@1']],
    ['replaced under the same id', whole(1, A, named('x')), ['x:alive@1']],
  ])('%s', (_name, event, changes) => {
    expect(learned([event], [[A, named('x')]])).toEqual(changes);
  });

  it('what it was comes from the ledger, and from earlier events of the same batch', () => {
    const events = [whole(1, A, named('x')), changed(2, A, { id: 'y' }), deleted(3, A)];
    expect(learned(events)).toEqual(['x:dead@2', 'y:dead@3']);
  });

  it('two records that swap their ids: both live', () => {
    const swap = [changed(1, A, { id: 'z' }), changed(2, B, { id: 'a' }), changed(3, A, { id: 'b' })];
    const before: [mongo.ObjectId, Identity][] = [
      [A, named('a')],
      [B, named('b')],
    ];
    expect(learned(swap, before)).toEqual(['a:alive@2', 'b:alive@3', 'z:dead@3']);
  });

  it('every identity that a record ever owned dies with it', () => {
    const before: [mongo.ObjectId, Identity][] = [
      [A, named('x')],
      [A, named('y')],
    ];
    expect(learned([deleted(1, A)], before)).toEqual(['x:dead@1', 'y:dead@1']);
  });

  it('a delete of what nobody knew leaves nothing', () => {
    expect(learned([deleted(1, A)])).toEqual([]);
  });
});

it('a tombstone tells whether its identity lived in this batch only', () => {
  const short = ledgerChanges([whole(1, A, named('x')), deleted(2, A)]);
  expect(short).toMatchObject([{ alive: false, shortLived: true }]);
  const long = ledgerChanges([deleted(1, A)], new Map([[A.toHexString(), [named('x')]]]));
  expect(long).toMatchObject([{ alive: false, shortLived: false }]);
});

it('the same `id` in several applications are different ones', () => {
  const events = [whole(1, A, named('x')), whole(3, new mongo.ObjectId(), named('x', { appid: 'erp' }))];
  expect(learned(events)).toEqual(['x:alive@1', 'x:alive@3']);
});
