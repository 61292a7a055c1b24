/** @depends-on-server */
import fc from 'fast-check';
import { mongo } from 'mongoose';
import { CLOCK } from '../../src/platform/database/index.js';
import { Ledger, type LedgerEntry } from '../../src/replication/store/index.js';
import type { LedgerChange } from '../../src/replication/protocol/index.js';
import { entryAfter, type KnownEntry } from '../model/twins/entry-after.js';
import { needsStamp, stampAbove } from '../../src/record/index.js';
import { isGoodStamp, isStampNeeded, nextStamp } from '../model/twins/stamp.js';
import { TestService } from '../support/index.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

/** The plain functions that the model of the protocol uses are twins of what MongoDB is asked to do. */
describe('stamps: the plain functions say what the expressions do', () => {
  const MINUTE = 60_000;
  const around = (base: number) => fc.integer({ min: -MINUTE, max: MINUTE }).map((ms) => new Date(base + ms));
  const stored = fc.oneof(
    around(Date.now()),
    fc.date({ min: new Date(-1e14), max: new Date(8.64e15), noInvalidDate: true }),
    fc.constantFrom(null, 'now', 5, [new Date(0)]),
  );
  const cases = fc.record({ lastupdated: stored, fence: fc.option(around(Date.now()), { nil: undefined }) });

  it('good, needed, next', async () => {
    const samples = fc.sample(cases, 500);
    const collection = service.db.collection('stamps');
    await collection.insertMany(samples.map(({ lastupdated }, n) => ({ n, lastupdated })));
    for (const [n, { lastupdated, fence }] of samples.entries()) {
      const [found] = await collection
        .aggregate<{ clock: Date; needed: boolean; next: Date }>([
          { $match: { n } },
          { $project: { clock: CLOCK, needed: needsStamp(fence), next: stampAbove(fence) } },
        ])
        .toArray();
      const clock = found!.clock;
      expect([n, found!.needed, found!.next]).toEqual([
        n,
        isStampNeeded(lastupdated, clock, fence),
        nextStamp(lastupdated, clock, fence),
      ]);
      if (fence === undefined) expect(found!.needed).toBe(!isGoodStamp(lastupdated, clock));
    }
  });
});

describe('the ledger: the plain function says what the writes do', () => {
  const owners = ['a', 'b'].map((digit) => new mongo.ObjectId(digit.repeat(24)));
  const identity = { kind: 'product' as const, organizationid: 'twin', appid: 'twin', id: '' };
  const place = fc.integer({ min: 1, max: 4 }).map(String);
  const change = fc.oneof(
    fc.record({ at: place, alive: fc.constant(true as const), owner: fc.constantFrom(...owners) }),
    fc.record({ at: place, alive: fc.constant(false as const), shortLived: fc.boolean() }),
  );

  const bare = (entry: KnownEntry | null | undefined) =>
    entry && { alive: entry.alive, owner: entry.owner?.toHexString(), learned: entry.learned };

  it('after any changes in any order; a resurrection is left to rule 4', async () => {
    const ledger = service.app.get(Ledger, { strict: false });
    const entries = service.db.collection<LedgerEntry>('tidemark.ledger');
    const runs = fc.sample(fc.array(change, { minLength: 1, maxLength: 5 }), 200);
    for (const [n, changes] of runs.entries()) {
      const own = { ...identity, id: `twin-${n}` };
      let expected: KnownEntry | undefined;
      for (const one of changes) {
        const whole = { ...one, identity: own } as LedgerChange;
        const reborn = await ledger.learn([whole]);
        if (reborn.length === 0) expected = entryAfter(expected, whole, new Date());
        expect([n, bare(await entries.findOne(own))]).toEqual([n, bare(expected) ?? null]);
      }
    }
  });

  it('a tombstone that dies once more has a later stamp, though the clock stands still', async () => {
    const ledger = service.app.get(Ledger, { strict: false });
    const entries = service.db.collection<Omit<LedgerEntry, '_id'>>('tidemark.ledger');
    const lastupdated = new Date(Date.now() + 500);
    const own = { ...identity, id: 'twice' };
    await entries.insertOne({ ...own, alive: false, lastupdated, learned: '1' });
    await ledger.learn([{ identity: own, at: '2', alive: false, shortLived: true }]);
    expect((await entries.findOne(own))?.lastupdated).toEqual(new Date(lastupdated.getTime() + 1));
  });
});
