import { RAISE } from '../../src/replication/protocol/index.js';
import {
  KINDS_AND_WARES,
  stored,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

describe.each(KINDS_AND_WARES)('harddeletes: records no longer in the collection (%s)', (kind) => {
  const gone = async (of = app) => (await of.hardDeletes(kind).drain()).map((item) => item.id);

  it('nothing where nothing was deleted', async () => {
    await app.put(kind);
    await service.watcher.caughtUp();
    expect(await gone()).toEqual([]);
  });

  it('a record deleted by anyone, stamped when it was seen', async () => {
    const before = await app.put(kind, { id: 'a' });
    await app.put(kind, { id: 'b' });
    await app.remove(kind, before);
    expect(await gone()).toEqual(['a']);
    const [item] = await app.hardDeletes(kind).drain();
    expect(new Date(item?.lastUpdated ?? '') >= before['lastupdated']).toBe(true);
    expect((await app.feed(kind).page()).ids).toEqual(['b']);
  });

  it('only of its own kind', async () => {
    await app.remove(kind, await app.put(kind, { id: 'a' }));
    expect((await app.hardDeletes(kind === 'member' ? 'product' : 'member').page()).ids).toEqual([]);
  });

  it('many at once', async () => {
    for (const id of ['a', 'b', 'c']) await app.put(kind, { id });
    await service.records(kind).deleteMany(app.tenant);
    await service.watcher.caughtUp();
    expect((await gone()).sort()).toEqual(['a', 'b', 'c']);
  });

  it('a record that came back under the same id is not in it', async () => {
    await app.remove(kind, await app.put(kind, { id: 'a' }));
    expect(await gone()).toEqual(['a']);
    const back = await app.put(kind, { id: 'a' });
    await service.watcher.caughtUp();
    expect(await gone()).toEqual([]);
    expect((await app.feed(kind).page()).ids).toEqual(['a']);
    await app.remove(kind, back);
    expect(await gone()).toEqual(['a']);
  });

  it('not even as of a moment between its insert and the watcher’s look at it', async () => {
    await app.remove(kind, await app.put(kind, { id: 'a' }));
    await app.remove(kind, await app.put(kind, { id: 'b' }));
    const _id = { ...app.tenant, kind };
    const marks = service.db.collection<{ _id: typeof _id; fence: Date }>('tidemark.marks');
    let fence = new Date(0);
    await withoutWatcher(service, async () => {
      await app.put(kind, { id: 'a' });
      ({ fence } = (await marks.findOneAndUpdate({ _id }, RAISE, {
        upsert: true,
        returnDocument: 'after',
      }))!);
    });
    await service.watcher.caughtUp();
    const { ids, to } = await app.hardDeletes(kind).page({ to: fence, limit: 1 });
    expect([ids, to]).toEqual([['b'], fence.toISOString()]);
  });

  it('a record that can never be delivered is no record under its id: the delete is told', async () => {
    await app.remove(kind, await app.put(kind, { id: 'a' }));
    const _id = `no ObjectId of ${app.appid}` as never;
    await service.records(kind).insertOne(stored(kind, { _id, ...app.tenant, id: 'a' }));
    await service.watcher.caughtUp();
    expect(await gone()).toEqual(['a']);
  });

  it('a moved id leaves a tombstone for what it was', async () => {
    const record = await app.put(kind, { id: 'a' });
    await app.change(kind, record, { $set: { id: 'b' } });
    await service.watcher.caughtUp();
    expect(await gone()).toEqual(['a']);
    expect((await app.feed(kind).page()).ids).toEqual(['b']);
  });

  it.each(['appid', 'organizationid'] as const)('and so does a moved %s', async (field) => {
    const other = await service.application(
      field === 'appid' ? { organizationid: app.organizationid } : { appid: app.appid },
    );
    const record = await app.put(kind, { id: 'a' });
    await app.change(kind, record, { $set: { [field]: other.tenant[field] } });
    await service.watcher.caughtUp();
    expect(await gone()).toEqual(['a']);
    expect(await gone(other)).toEqual([]);
    expect((await app.feed(kind).page()).ids).toEqual([]);
    expect((await other.feed(kind).page()).ids).toEqual(['a']);
  });

  it('and so does a record that was replaced by one of another id', async () => {
    const record = await app.put(kind, { id: 'a' });
    const { _id, ...rest } = record;
    await service.records(kind).replaceOne({ _id }, stored(kind, { ...rest, id: 'b' }));
    await service.watcher.caughtUp();
    expect(await gone()).toEqual(['a']);
  });

  it('a move and its way back leave nothing', async () => {
    const record = await app.put(kind, { id: 'a' });
    await app.change(kind, record, { $set: { id: 'b' } });
    await app.change(kind, record, { $set: { id: 'a' } });
    await service.watcher.caughtUp();
    expect(await gone()).toEqual(['b']);
  });
});
