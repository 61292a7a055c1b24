/** @depends-on-server */
import mongoose from 'mongoose';
import {
  isAside,
  type Observed,
  progressOf,
  type TotalProgress,
  watchedOf,
  workOf,
} from '../../src/replication/protocol/index.js';
import { TestService } from '../support/index.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };
const OTHER = { organizationid: 'acme', appid: 'other' };
/** A kind that is not registered in this process has no document. */
const KIND = { kind: 'order', document: '' };

const at = (t: number) => new mongoose.mongo.Timestamp({ t, i: 1 });
const pace = { log: 1, seconds: 2 };

/** Values of each field of the lease, those of other programs among them; undefined: it is absent. */
const VALUES: Record<string, unknown[]> = {
  since: [undefined, at(5), 'text', null],
  watched: [undefined, at(9), 5, null],
  pass: [undefined, null, {}, { step: 'members' }],
  pace: [undefined, pace],
  aside: [
    undefined,
    null,
    'text',
    [],
    [null],
    [{ ...OTHER, watched: at(2) }],
    [{ ...TENANT, watched: at(3), done: 1, total: 2, pace }],
    [{ ...OTHER }, { ...TENANT, watched: at(4), since: at(8), pass: { step: 'products' } }],
    [{ ...TENANT, watched: 'text', since: 'text', pass: null }],
  ],
  kinds: [
    undefined,
    null,
    'text',
    [null],
    [{ ...KIND, document: 'another', since: at(7) }],
    [{ ...KIND, kind: 'price', since: at(7) }],
    [{ ...KIND }],
    [{ ...KIND, pass: { step: 'order' } }],
    [{ ...KIND, since: at(7), pass: { step: 'order' } }],
    [{ ...KIND, since: 'text' }],
  ],
};

let service: TestService;
beforeAll(async () => {
  service = await TestService.shared();
});

/** Each combination of the values. */
function states(): TotalProgress[] {
  return Object.entries(VALUES).reduce<Record<string, unknown>[]>(
    (all, [name, values]) =>
      all.flatMap((state) =>
        values.map((value) => (value === undefined ? state : { ...state, [name]: value })),
      ),
    [{}],
  );
}

describe('the progress that the database computes is the one that an instance computes', () => {
  it.each<[string, Observed]>([
    ['of an application', TENANT],
    ['of a built-in kind', { ...TENANT, kind: 'product' }],
    ['of a kind that an operator has created', { ...TENANT, kind: KIND.kind }],
  ])('%s', async (name, observed) => {
    const all = states();
    const collection = service.db.collection<{ _id: number }>(`states ${name}`);
    await collection.insertMany(all.map((state, index) => ({ ...state, _id: index })));
    const computed = await collection
      .aggregate([{ $sort: { _id: 1 } }, { $project: watchedOf(observed) }])
      .toArray();
    await collection.drop();
    expect(computed).toHaveLength(all.length);
    for (const [index, { _id, ...found }] of computed.entries()) {
      const state = all[index]!;
      const { since, pass, watched } = progressOf(state, observed);
      const { done, total, pace: ownPace } = workOf(state, observed);
      const work = { done, total, pace: ownPace };
      const wanted = { since, pass, watched, isAside: isAside(state, observed), work };
      expect({ state, ...found }).toEqual({ state, ...wanted });
    }
  });
});
