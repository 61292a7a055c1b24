import { mongo } from 'mongoose';
import type { Identity } from '../../../../../src/replication/protocol/index.js';
import {
  differing,
  type LedgerFault,
  faultOf,
  faultsSentence,
  lasting,
} from '../../../../../src/replication/watcher/upkeep/audit-reads.js';
import { TENANT } from '../../protocol/written.js';

const identity = (id: string): Identity => ({ ...TENANT, kind: 'product', id });
const A = new mongo.ObjectId('a'.repeat(24));
const B = new mongo.ObjectId('b'.repeat(24));
/** The driver makes a new object of the same bytes with each read. */
const again = (owner: mongo.ObjectId) => new mongo.ObjectId(owner.toHexString());
const tenure = (owner: mongo.ObjectId, id: string) => ({ owner, identity: identity(id) });

describe('the identities of two lists that differ', () => {
  it('none where both hold the same', () => {
    const records = [tenure(A, 'x'), tenure(B, 'y')];
    expect(differing(records, [tenure(again(B), 'y'), tenure(again(A), 'x')])).toEqual([]);
  });

  it('those that only one has, and those of another owner, each once', () => {
    const records = [tenure(A, 'only here'), tenure(A, 'owner')];
    const entries = [tenure(B, 'owner'), tenure(B, 'only there')];
    expect(differing(records, entries)).toEqual([...records, tenure(B, 'only there')]);
  });
});

describe('what is wrong with an identity', () => {
  it.each<[string, mongo.ObjectId | undefined, mongo.ObjectId | undefined, LedgerFault['what'] | undefined]>([
    ['nothing: neither lives', undefined, undefined, undefined],
    ['nothing: both know the owner', A, again(A), undefined],
    ['the ledger does not know the record', A, undefined, 'unknown record'],
    ['the ledger knows another owner', A, B, 'unknown record'],
    ['the record is gone', undefined, B, 'living entry without record'],
  ])('%s', (_name, owner, known, what) => {
    const fault = faultOf(identity('x'), owner, known);
    expect(fault).toEqual(what && { what, identity: identity('x'), owner: owner ?? known });
  });
});

describe('a fault lasts', () => {
  const fault = (what: LedgerFault['what'], owner: mongo.ObjectId, id: string): LedgerFault => ({
    what,
    ...tenure(owner, id),
  });
  const earlier = [fault('unknown record', A, 'x'), fault('living entry without record', B, 'y')];

  it('where the later look shows it just the same', () => {
    const later = [fault('living entry without record', again(B), 'y')];
    expect(lasting(earlier, later)).toEqual(later);
  });

  it.each<[string, LedgerFault[]]>([
    ['not where it is gone', []],
    ['not where the owner is another', [fault('unknown record', B, 'x')]],
    ['not where it is another fault', [fault('living entry without record', A, 'x')]],
    ['not where it is new', [fault('unknown record', A, 'z')]],
  ])('%s', (_name, later) => {
    expect(lasting(earlier, later)).toEqual([]);
  });
});

describe('the sentence for the log', () => {
  const faults = (count: number): LedgerFault[] =>
    Array.from({ length: count }, (_, index) => ({ what: 'unknown record', ...tenure(A, `id-${index}.`) }));

  it('names what was wrong', () => {
    expect(faultsSentence(faults(1))).toBe(
      'The audit found errors in the ledger, which it now corrects: unknown record: product "id-0." of acme/shop, ' +
        '_id aaaaaaaaaaaaaaaaaaaaaaaa',
    );
  });

  it('names 20 at most, and counts the rest', () => {
    const sentence = faultsSentence(faults(25));
    expect(sentence).toContain('"id-19."');
    expect(sentence).not.toContain('"id-20."');
    expect(sentence).toMatch(/; and 5 more$/);
  });
});
