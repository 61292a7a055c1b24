import { mongo } from 'mongoose';
import { type Fences, withPassed } from '../../../../src/replication/protocol/marks.js';
import { decide, type KindEvent } from '../../../../src/replication/protocol/decide.js';
import type { Knowledge } from '../../../../src/replication/protocol/learn.js';
import {
  announced,
  at,
  changed,
  deleted,
  knowing,
  named,
  placeAt,
  tombstoneSeen,
  TENANT,
  whole,
} from './written.js';

const [A, B, C] = [new mongo.ObjectId(), new mongo.ObjectId(), new mongo.ObjectId()] as const;
const ENTRY = new mongo.ObjectId();
const FENCE = new Date(at(1).getHighBitsUnsigned() * 1000 - 5000);
const LATER = new Date(FENCE.getTime() + 1);
const MARK = '["product","acme","shop"]';
const hex = (owner: mongo.ObjectId) => owner.toHexString();

/** A knows an identity by a text, B by a number, C has none yet; a tombstone is told of, and a fence was passed. */
const known = () =>
  knowing({
    owned: new Map([
      [hex(A), [{ ...named('x'), learned: placeAt(0) }]],
      [hex(B), [{ ...named('5'), isNumber: true, learned: placeAt(0) }]],
    ]),
    partials: new Map([[hex(C), { ...TENANT }]]),
    holders: new Map([['["product","acme","shop","5"]', { owner: hex(B), isNumber: true }]]),
    fences: new Map([[MARK, FENCE]]),
    tombstones: new Map([[hex(ENTRY), named('gone')]]),
  });

/** The same, but any attempt to change it throws. */
function locked<T>(value: T): T {
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value ?? 0) === Object.prototype;
  if (!(value instanceof Map) && !isPlain) return value;
  const inner = value instanceof Map ? [...value.values()] : Object.values(value as object);
  inner.forEach(locked);
  if (!(value instanceof Map)) return Object.freeze(value);
  const refuse = () => {
    throw new Error('Something given was changed.');
  };
  return Object.assign(value, { set: refuse, delete: refuse, clear: refuse });
}

/** The entries, so that what locks a Map is not compared. */
const entriesOf = ({ owned, partials, holders, fences, tombstones }: Knowledge) =>
  [owned, partials, holders, fences as Fences, tombstones].map((map) => [...map]);

const stamped = { ...whole(2, A, named('x')), stamp: FENCE };
const BATCHES: [string, KindEvent[]][] = [
  ['a record written', [stamped]],
  ['a new one', [whole(1, new mongo.ObjectId(), named('new'))]],
  ['one that moves', [changed(1, A, { appid: 'erp' })]],
  ['one that loses its id', [whole(1, A, { ...TENANT, id: false })]],
  ['one that gets its id', [changed(1, C, { id: 'y' })]],
  ['a text that takes the place of a number', [changed(1, C, { id: '5' })]],
  ['a number that cannot live', [whole(1, A, { ...TENANT, id: '5', isNumber: true })]],
  ['a delete', [deleted(1, A)]],
  ['the delete of a number', [deleted(1, B)]],
  ['the delete of one without an id', [deleted(1, C)]],
  ['a tombstone', [tombstoneSeen(1, ENTRY, FENCE)]],
  ['an announcement', [announced(1, LATER)]],
];

describe('`decide` changes nothing that it was given', () => {
  it.each([...BATCHES, ['all of it in one batch', BATCHES.flatMap(([, events]) => events)] as const])(
    '%s',
    (_name, events) => {
      const knowledge = locked(known());
      decide('product', locked([...events]), knowledge);
      expect(entriesOf(knowledge)).toEqual(entriesOf(known()));
    },
  );

  it('what is locked is seen to be changed', () => {
    expect(() => (locked(known()).owned as Map<string, []>).set('', [])).toThrow('was changed');
    expect(() => Object.assign(locked(known()).partials.get(hex(C))!, { id: '' })).toThrow(TypeError);
  });

  it('so that the same batch comes to the same a second time', () => {
    const [knowledge, events] = [known(), BATCHES.flatMap(([, batch]) => batch)];
    expect(decide('product', events, knowledge)).toEqual(decide('product', events, knowledge));
  });
});

describe('it answers what is known behind the batch', () => {
  it('of the records that it is about', () => {
    const { knowledge } = decide('product', [changed(1, C, { id: 'y' }), deleted(2, A)], known());
    expect(knowledge.owned).toEqual(
      new Map([
        [hex(A), []],
        [hex(B), known().owned.get(hex(B))],
        [hex(C), [{ ...named('y'), learned: placeAt(1) }]],
      ]),
    );
    expect([...knowledge.partials]).toEqual([[hex(C), null]]);
  });

  it('of fences only those that it has passed: it looks up what it needs, and never goes through all of them', () => {
    const get = jest.fn(() => undefined);
    const { knowledge } = decide('product', [announced(1, FENCE), stamped], knowing({ fences: { get } }));
    expect([...knowledge.passed]).toEqual([[MARK, FENCE]]);
    expect(get).toHaveBeenCalledTimes(1);
  });

  it('which the next batch is judged by', () => {
    const { knowledge: before } = decide('product', [announced(1, LATER)], known());
    const fences = withPassed(known().fences, before.passed);
    const { decisions } = decide('product', [{ ...stamped, stamp: LATER }], { ...known(), fences });
    expect(decisions.late).toEqual([{ _id: A, reason: 'late', fence: LATER }]);
  });
});
