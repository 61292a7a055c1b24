import { KINDS_AND_WARES, storedField, TestService } from '../support/index.js';

describe('what happens while no instance runs', () => {
  it.each(KINDS_AND_WARES)('is in the feeds after the next start: %s', async (kind) => {
    const first = await TestService.withWares();
    const before = await first.application();
    const deleted = await before.put(kind, { id: 'deleted' });
    const moved = await before.put(kind, { id: 'moved' });
    await before.put(kind, { id: 'kept' });
    await first.watcher.caughtUp();
    const from = await before.max(kind);
    await first.leave();

    const records = first.records(kind);
    await records.deleteOne({ _id: deleted._id });
    await before.change(kind, moved, { $set: { id: 'elsewhere', lastupdated: new Date() } });
    await before.put(kind, { id: 'new' });
    const { insertedId } = await records.insertOne({ ...before.tenant, data: { from: 'an outage' } });

    const second = await first.another();
    await second.watcher.caughtUp();
    const after = before.seenBy(second);
    const hardDeletes = await after.hardDeletes(kind).drain({ from });
    expect(hardDeletes.map((item) => item.id).sort()).toEqual(['deleted', 'moved']);
    const repaired = await records.findOne({ _id: insertedId });
    const updates = await after.feed(kind).drain({ from });
    expect(updates.map((item) => item.id).sort()).toEqual(
      ['elsewhere', 'new', repaired?.[storedField(kind, 'id')]].sort(),
    );
    await second.stop();
  });
});
