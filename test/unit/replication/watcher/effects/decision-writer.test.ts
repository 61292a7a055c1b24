import { mongo } from 'mongoose';
import { type Rival, ALL } from '../../../../../src/replication/protocol/index.js';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { DecisionWriter } from '../../../../../src/replication/watcher/effects/decision-writer.js';
import { decide } from '../../../../../src/replication/protocol/decide.js';
import { knowing, placeAt, TENANT } from '../../protocol/written.js';

type Parts = ConstructorParameters<typeof DecisionWriter>;

const [NUMBER, OTHER] = [new mongo.ObjectId(), new mongo.ObjectId()];
const WAITED = { ...TENANT, id: '7', isNumber: true as const, learned: placeAt(1) };
const { decisions } = decide('product', [], knowing());

/** What a batch forgets that makes both records complete, where the ledger has these still waiting. */
async function forgotten(unlearned: (rivals: Rival[]) => Rival[]): Promise<unknown[]> {
  const incomplete = { keep: () => Promise.resolve(), forget: jest.fn().mockResolvedValue(undefined) };
  const restamps = { late: () => Promise.resolve(), lateTombstones: () => Promise.resolve() };
  const resurrections = {
    ...{
      learn: () => Promise.resolve([]),
      review: () => Promise.resolve(),
      endVacant: () => Promise.resolve(),
    },
  };
  const ignored = { hasRivals: () => false, hearRivals: () => Promise.resolve() };
  const claimants = { unlearned: (_kind: string, rivals: Rival[]) => Promise.resolve(unlearned(rivals)) };
  const parts = [incomplete, restamps, resurrections, ignored, claimants] as unknown as Parts;
  const partials = new Map([NUMBER, OTHER].map((owner) => [owner.toHexString(), null]));
  const waited = new Map([[NUMBER.toHexString(), WAITED]]);
  const batch = { decisions, partials, at: placeAt(2), fences: new Map(), waited };
  await new DecisionWriter(...parts).write('product', batch, NO_TERM);
  expect(incomplete.forget.mock.calls.length).toBe(1);
  const [kind, owners, at, share] = incomplete.forget.mock.calls[0] as [string, unknown[], string, unknown];
  expect([kind, at, share]).toEqual(['product', placeAt(2), ALL]);
  return owners;
}

describe('what is complete is forgotten', () => {
  it('with a number that the ledger has learned', async () => {
    expect(await forgotten(() => [])).toEqual([NUMBER, OTHER]);
  });

  it('but for a number that still waits, whatever the batch takes it for', async () => {
    const asked: Rival[] = [];
    const still = (rivals: Rival[]) => {
      asked.push(...rivals);
      return rivals;
    };
    expect(await forgotten(still)).toEqual([OTHER]);
    const identity = { kind: 'product', ...TENANT, id: '7' };
    expect(asked).toEqual([{ owner: NUMBER.toHexString(), identity }]);
  });
});
