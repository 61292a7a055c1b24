import { mongo } from 'mongoose';
import { type Kind, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import type { LedgerEntry } from '../../src/replication/store/index.js';
import { placeAfter } from '../../src/replication/protocol/index.js';
import { Audit, type AuditProgress } from '../../src/replication/watcher/index.js';
import { eventually, QUICK_AUDIT, type Stored, type TestApplication, TestService } from '../support/index.js';

const RECORDS = 8;

let service: TestService;
let app: TestApplication;

const audits = () => service.db.collection<AuditProgress>('tidemark.audits');
const progress = () => audits().findOne({ _id: 'ledger' });
const ledger = () => service.db.collection<Partial<LedgerEntry>>('tidemark.ledger');

/**
 * Waits until everything has been compared once more, from the first record to the last. On an idle server the watcher
 * moves on every two seconds only, and the audit waits for it; here it has something to do.
 */
async function oneMoreRound(): Promise<AuditProgress> {
  const begun = (await progress())?.round ?? 1;
  await eventually(async () => {
    await service.watcher.caughtUp();
    return ((await progress())?.round ?? 1) >= begun + 2;
  });
  return (await progress())!;
}

const setAside = () => service.db.collection('tidemark.quarantine').countDocuments();
const found = (what: string) =>
  service.metric(`tidemark_audit_found_total{what="${what}"}`).then((count) => count || 0);
const bothFound = async () => [await found('unknown record'), await found('living entry without record')];

beforeAll(async () => {
  service = await TestService.start(QUICK_AUDIT);
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

describe.each(BUILT_IN_KINDS)(
  'the audit compares ledger and records, and puts right what it finds: %s',
  (kind: Kind) => {
    const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();
    const entryOf = (id: unknown) => ledger().findOne({ ...app.tenant, kind, id: String(id) });
    let records: Stored[];
    let last: Date;
    let before: number[];

    beforeEach(async () => {
      records = [];
      for (let count = 0; count < RECORDS; count += 1) records.push(await app.put(kind));
      await service.watcher.caughtUp();
      last = await app.max(kind);
      before = await bothFound();
    });

    afterEach(async () => {
      jest.restoreAllMocks();
      await service.db.collection(`${kind}s`).deleteMany(app.tenant);
    });

    /** Damages the ledger; answers how many faults of each sort were found in it. */
    async function damaged(damage: () => Promise<unknown>): Promise<number[]> {
      await damage();
      await oneMoreRound();
      await service.watcher.caughtUp();
      const after = await bothFound();
      return after.map((count, index) => count - before[index]!);
    }

    it.each<[string, (id: string) => Promise<unknown>]>([
      ['has no entry', (id) => ledger().deleteOne({ ...app.tenant, kind, id })],
      [
        'is dead',
        (id) =>
          ledger().updateOne({ ...app.tenant, kind, id }, { $set: { alive: false }, $unset: { owner: '' } }),
      ],
      [
        'belongs to another',
        (id) => ledger().updateOne({ ...app.tenant, kind, id }, { $set: { owner: new mongo.ObjectId() } }),
      ],
    ])(
      'a record that %s in the ledger: it is learned and delivered again, and its delete is told',
      async (_, damage) => {
        const record = records[4]!;
        expect(await damaged(() => damage(String(record['id'])))).toEqual([1, 0]);
        expect(await entryOf(record['id'])).toMatchObject({ alive: true, owner: record._id });
        expect(idsOf(await app.feed(kind).drain({ from: last }))).toEqual([record['id']]);
        await app.remove(kind, record);
        expect(idsOf(await app.hardDeletes(kind).drain())).toEqual([record['id']]);
      },
    );

    it.each<[string, () => mongo.ObjectId]>([
      ['among the others', () => records[4]!._id],
      ['before the first record', () => new mongo.ObjectId('000000000000000000000001')],
      ['beyond the last record', () => new mongo.ObjectId('f'.repeat(24))],
    ])('a living entry without its record, its owner %s: it becomes a hard delete', async (_, owner) => {
      const learned = placeAfter(new mongo.Timestamp({ t: 1, i: 1 }));
      const entry = { ...app.tenant, kind, id: 'nobody', alive: true, owner: owner(), learned };
      expect(await damaged(() => ledger().insertOne(entry))).toEqual([0, 1]);
      expect(await entryOf('nobody')).toMatchObject({ alive: false });
      expect(idsOf(await app.hardDeletes(kind).drain({ from: last }))).toEqual(['nobody']);
      expect(await app.feed(kind).drain({ from: last })).toEqual([]);
    });

    it.each([
      ['a text', 'held'],
      ['a number', 77],
    ])(
      'a record whose `id` is %s, and that a transaction holds: it is delivered again after the transaction',
      async (_, id) => {
        const held = await app.put(kind, { id });
        await service.watcher.caughtUp();
        last = await app.max(kind);
        const audit = service.app.get(Audit, { strict: false });
        const step = audit.step.bind(audit);
        let failures = 0;
        jest.spyOn(audit, 'step').mockImplementation((...given) =>
          step(...given).catch((error: unknown) => {
            failures += 1;
            throw error;
          }),
        );
        const session = service.client.startSession();
        session.startTransaction();
        const collection = service.client.db(service.db.databaseName).collection(`${kind}s`);
        await collection.updateOne({ _id: held._id }, { $set: { 'data.held': true } }, { session });
        await ledger().deleteOne({ ...app.tenant, kind, id: String(id) });
        await eventually(async () => {
          await service.watcher.caughtUp();
          return failures > 0 || (await setAside()) > 0;
        });
        await session.abortTransaction();
        await session.endSession();
        await eventually(async () => (await setAside()) === 0);
        await oneMoreRound();
        await service.watcher.caughtUp();
        expect(idsOf(await app.feed(kind).drain({ from: last }))).toEqual([String(id)]);
        expect((await found('unknown record')) - before[0]!).toBe(1);
      },
    );

    it('a record with a number, whose repair ends after the hard delete: the watcher restores it by itself', async () => {
      const record = await app.put(kind, { id: 78 });
      await service.watcher.caughtUp();
      last = await app.max(kind);
      const audit = service.app.get(Audit, { strict: false });
      jest.spyOn(audit['repairs']['resurrections'], 'learnSeen').mockRejectedValue(new Error('interrupted'));
      await ledger().deleteOne({ ...app.tenant, kind, id: '78' });
      await eventually(async () => {
        await service.watcher.caughtUp();
        return (await entryOf(78))?.alive === true;
      });
      expect(await entryOf(78)).toMatchObject({ owner: record._id, isNumber: true });
      await service.watcher.caughtUp();
      expect(idsOf(await app.feed(kind).drain({ from: last }))).toEqual(['78']);
    });

    it('everything forgotten: everything is learned and delivered again', async () => {
      const damage = () => ledger().deleteMany({ ...app.tenant, kind });
      expect(await damaged(damage)).toEqual([RECORDS, 0]);
      expect(idsOf(await app.feed(kind).drain({ from: last }))).toEqual(
        records.map(({ id }) => String(id)).sort(),
      );
    });

    it('finds nothing where nothing is wrong, whatever is written meanwhile', async () => {
      const collection = service.db.collection(`${kind}s`);
      const writing = (async () => {
        for (let round = 0; round < 40; round += 1) {
          const { _id } = await app.put(kind);
          await collection.updateOne({ _id }, { $set: { id: `moved-${round}` } });
          await collection.updateOne({ _id: records[round % RECORDS]!._id }, { $unset: { id: '' } });
          if (round % 2 === 0) await collection.deleteOne({ _id });
        }
      })();
      await oneMoreRound();
      await writing;
      await oneMoreRound();
      expect(await bothFound()).toEqual(before);
    });
  },
);

describe('its progress', () => {
  it('tells round and time, and a new leader goes on where the old one stopped', async () => {
    await oneMoreRound();
    await service.leave();
    const left = (await progress())!;
    expect(left).toMatchObject({
      kind: expect.stringMatching(/^(member|product)$/),
      slices: expect.any(Number),
      started: expect.any(Date),
      lastRoundSeconds: expect.any(Number),
      roundSeconds: expect.any(Number),
      found: expect.any(Number),
    });
    service = await service.another(QUICK_AUDIT);
    const next = await oneMoreRound();
    expect(next.round).toBeGreaterThan(left.round);
    expect(next.found).toBe(left.found);
  });
});
