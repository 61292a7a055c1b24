import { mongo } from 'mongoose';
import type { LedgerEntry } from '../../src/replication/store/index.js';
import { type Kind, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { type TestApplication, TestService, withoutWatcher } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

/** The audit would find what is missing too, in its own time: where it did, the stream has not. */
const foundByAudit = async () =>
  (await service.metric('tidemark_audit_found_total{what="unknown record"}')) || 0;
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();

describe.each(BUILT_IN_KINDS)('a change that tells only the new `id` of a record: %s', (kind: Kind) => {
  const records = () => service.db.collection(`${kind}s`);

  it('where the ledger does not know the record, it is read as of that change', async () => {
    const { _id } = await app.put(kind, { id: 'forgotten' });
    const from = await app.max(kind);
    await withoutWatcher(service, async () => {
      await service.db.collection('tidemark.ledger').deleteOne({ ...app.tenant, kind, id: 'forgotten' });
      await records().updateOne({ _id }, { $set: { id: 'renamed' } });
    });
    await service.watcher.caughtUp();
    expect(idsOf(await app.feed(kind).drain({ from }))).toEqual(['renamed']);
    await app.remove(kind, { _id });
    await service.watcher.caughtUp();
    expect(idsOf(await app.hardDeletes(kind).drain({ from }))).toEqual(['renamed']);
    expect(await foundByAudit()).toBe(0);
  });

  it('where the ledger knows it twice, the first is what it was and the record tells what it is', async () => {
    const other = await service.application({ organizationid: app.organizationid });
    const { _id } = await app.put(kind, { id: 'here' });
    await service.watcher.caughtUp();
    const from = await app.max(kind);
    const ledger = service.db.collection<LedgerEntry>('tidemark.ledger');
    const known = (await ledger.findOne({ ...app.tenant, kind }))!;
    const learned = `${known.learned}~`;
    await withoutWatcher(service, async () => {
      await records().updateOne({ _id }, { $set: { appid: other.appid } });
      await ledger.insertOne({ ...known, _id: new mongo.ObjectId(), appid: other.appid, learned });
      await records().updateOne({ _id }, { $set: { id: 'there' } });
    });
    await service.watcher.caughtUp();
    expect(idsOf(await app.hardDeletes(kind).drain({ from }))).toEqual(['here']);
    expect(idsOf(await other.feed(kind).drain())).toEqual(['there']);
    await other.remove(kind, { _id });
    await service.watcher.caughtUp();
    expect(idsOf(await other.hardDeletes(kind).drain())).toContain('there');
    expect(await foundByAudit()).toBe(0);
  });
});
