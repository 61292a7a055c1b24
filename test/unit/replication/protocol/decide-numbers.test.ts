import { mongo } from 'mongoose';
import type { LedgerChange } from '../../../../src/replication/protocol/identity.js';
import type { WrittenEvent } from '../../../../src/replication/protocol/events.js';
import { decide, type KindEvent } from '../../../../src/replication/protocol/decide.js';
import type { Knowledge } from '../../../../src/replication/protocol/learn.js';
import { changed, deleted, knowing, named, placeAt, TENANT, whole } from './written.js';

const [A, B, C] = [1, 2, 3].map((n) => new mongo.ObjectId(String(n).repeat(24))) as [
  mongo.ObjectId,
  mongo.ObjectId,
  mongo.ObjectId,
];
const hex = (owner: mongo.ObjectId) => owner.toHexString();

/** A record whose `id` is the number 5, written as a whole. */
const five = (n: number, owner: mongo.ObjectId): WrittenEvent =>
  whole(n, owner, { ...TENANT, id: '5', isNumber: true });
const FIVE = named('5');

/** The ledger knows the number 5, or the text, of this record. */
const heldBy = (owner: mongo.ObjectId, isNumber?: true): Partial<Knowledge> => ({
  holders: new Map([['["product","acme","shop","5"]', { owner: hex(owner), ...(isNumber && { isNumber }) }]]),
  owned: new Map([[hex(owner), [{ ...FIVE, learned: placeAt(0), ...(isNumber && { isNumber }) }]]]),
});

/** What comes of events: who lives and dies, who is ignored, and whose record is stamped anew. */
function outcome(events: KindEvent[], known: Partial<Knowledge> = {}) {
  const { decisions, knowledge } = decide('product', events, knowing(known));
  const { ledger, revealed, rivals } = decisions;
  return {
    ledger: ledger.map((change) => `${change.identity.id} ${shown(change)}`),
    revealed: revealed.map((owner) => hex(owner)[0]),
    rivals: rivals.map(({ owner }) => owner[0]),
    incomplete: [...knowledge.partials].filter(([, partial]) => partial !== null).map(([owner]) => owner[0]),
  };
}

/** The owner of a life, and whether another life ends before it; whether a death may be of one that the ledger never knew. */
function shown(change: LedgerChange): string {
  if (!change.alive) return change.shortLived ? 'dead, short-lived' : 'dead';
  return `${hex(change.owner)[0]}${change.wasText ? ' as a text' : ''}${change.afterDeath ? ' after a death' : ''}`;
}

it('a number that nobody claims lives, and its record is stamped anew', () => {
  expect(outcome([five(1, A)])).toEqual({ ledger: ['5 1'], revealed: ['1'], rivals: [], incomplete: [] });
});

it.each<[string, KindEvent[], Partial<Knowledge>, string[]]>([
  ['known as it is: never again', [five(1, A)], heldBy(A, true), []],
  ['known of this very place, as after a crash: once more', [five(0, A)], heldBy(A, true), ['1']],
  [
    'known as a text: it is hidden from now on',
    [changed(1, A, { id: '5', isNumber: true })],
    heldBy(A),
    ['1'],
  ],
  ['written twice in a batch: once', [five(1, A), five(2, A)], {}, ['1']],
])('%s', (_name, events, known, revealed) => {
  expect(outcome(events, known)).toEqual({ ledger: ['5 1'], revealed, rivals: [], incomplete: [] });
});

it.each<[string, Partial<Knowledge>]>([
  ['a number', heldBy(A, true)],
  ['a text', heldBy(A)],
])('a number that %s of another record holds is ignored', (_name, known) => {
  expect(outcome([five(1, B)], known)).toEqual({
    ledger: [],
    revealed: [],
    rivals: ['2'],
    incomplete: ['2'],
  });
});

it('one that is ignored is told of once, and forgotten when it is gone', () => {
  const partials = new Map([[hex(B), { ...TENANT, id: '5', isNumber: true as const }]]);
  const known = { ...heldBy(A, true), partials };
  expect(outcome([five(1, B)], known)).toMatchObject({ ledger: [], rivals: [], incomplete: ['2'] });
  expect(outcome([deleted(1, B)], known)).toMatchObject({ ledger: [], rivals: [], incomplete: [] });
});

it('a text takes the place of a number through a tombstone, so that its record is stamped above', () => {
  const after = { ledger: ['5 2 after a death'], incomplete: ['1'] };
  expect(outcome([whole(1, B, FIVE)], heldBy(A, true))).toEqual({ ...after, revealed: [], rivals: ['1'] });
  expect(outcome([five(1, A), whole(2, B, FIVE)])).toMatchObject(after);
  expect(outcome([deleted(1, A), whole(2, B, FIVE)], heldBy(A, true)).ledger).toEqual(after.ledger);
});

it('a text that comes and goes beside a number born in the same batch leaves a tombstone of its own', () => {
  expect(outcome([five(1, A), whole(2, B, FIVE), deleted(3, B)])).toMatchObject({
    ...{ ledger: ['5 dead, short-lived'], incomplete: ['1'] },
  });
  expect(outcome([five(1, A), deleted(2, A), whole(3, B, FIVE), deleted(4, B)])).toMatchObject({
    ledger: ['5 dead, short-lived'],
  });
});

it('a text that takes the place of another text and becomes its number keeps the right of a text', () => {
  const known = { ...heldBy(A), owned: new Map(heldBy(A).owned).set(hex(B), [named('x')]) };
  const takesOver = [deleted(1, A), changed(2, B, { id: '5' })];
  const becomesNumber = changed(3, B, { id: '5', isNumber: true });
  expect(outcome([...takesOver, becomesNumber], known).ledger).toEqual(['5 2 as a text', 'x dead']);
  expect(outcome([...takesOver, becomesNumber, changed(4, B, { id: '5' })], known).ledger).toEqual([
    '5 2',
    'x dead',
  ]);
});

it('of what the ledger and the incomplete identities know of a record the newer counts', () => {
  const partial = (learned: number) =>
    new Map([[hex(B), { ...TENANT, id: '4', isNumber: true as const, learned: placeAt(learned) }]]);
  const owned = new Map([[hex(B), [{ ...FIVE, isNumber: true as const, learned: placeAt(2) }]]]);
  const movedWith = (learned: number) =>
    outcome([changed(3, B, { appid: 'erp' })], { owned, partials: partial(learned) }).ledger;
  expect(movedWith(1)).toEqual(['5 dead', '5 2']);
  expect(movedWith(2)).toEqual(['5 dead', '4 2']);
});

it('a number that comes after a death of the same batch waits for its tombstone', () => {
  expect(outcome([deleted(1, A), five(2, B), five(3, C)], heldBy(A, true))).toMatchObject({
    ...{ ledger: ['5 dead'], rivals: ['2', '3'], incomplete: ['2', '3'] },
  });
});

it('a change that leaves the `id` alone leaves it a number', () => {
  const moved = outcome([changed(1, A, { appid: 'erp' })], {
    ...heldBy(A, true),
    holders: new Map([['["product","acme","erp","5"]', { owner: hex(B) }]]),
  });
  expect(moved).toMatchObject({ ledger: ['5 dead'], rivals: ['1'], incomplete: ['1'] });
});

it('one that turns into the text stays who it is', () => {
  const { decisions } = decide('product', [changed(1, A, { id: '5' })], knowing(heldBy(A, true)));
  expect(decisions.ledger).toEqual([{ identity: FIVE, at: placeAt(1), alive: true, owner: A }]);
});
