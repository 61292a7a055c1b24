import { mongo } from 'mongoose';
import type { RecordHistory } from '../../src/administration/index.js';
import {
  RestampBook,
  type RestampNote,
  RestampNotes,
  writeRestamps,
} from '../../src/replication/watcher/index.js';
import { send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { commandsDuring, nameOf } from './profiler.js';
import { aboutProducts, allNoted, LONG_AGO, readProduct, toldHistory } from './told-history.js';

let service: TestService;
let app: TestApplication;
let admin: AdminConsole;

beforeAll(async () => {
  service = await TestService.start();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const notes = (db = service.db) => db.collection<Partial<RestampNote>>('tidemark.restamps');

describe('what it costs, and what it may not do', () => {
  /** Writes notes about bulks, as the service does. */
  async function noted(bulks: mongo.ObjectId[][], stamped = (ids: mongo.ObjectId[]) => ids.length) {
    const book = new RestampBook(30);
    for (const ids of bulks)
      book.note({ collection: 'products', reason: 'late', ids, stamped: stamped(ids) });
    await writeRestamps(service.db, book);
  }

  it('the newest hundred are read, along an index, however many there are', async () => {
    const { _id, id } = await readProduct(app);
    for (let turn = 0; turn < 150; turn += 1) await noted([[_id]]);
    let told: RecordHistory | undefined;
    const commands = await commandsDuring(service.db, async () => {
      told = await toldHistory(app, id);
    });
    expect(told?.restamps).toHaveLength(100);
    const [query] = commands.filter(
      (one) => nameOf(one) === 'find tidemark.restamps' && '$or' in (one.command['filter'] as object),
    );
    expect(query).toMatchObject({ nreturned: 100 });
    expect(query?.['hasSortStage']).toBeUndefined();
    expect(query?.docsExamined).toBeLessThanOrEqual(101);
  });

  it('of a bulk in which not all had to be stamped it is said so', async () => {
    const { _id, id } = await readProduct(app);
    await noted([[_id, new mongo.ObjectId()]], () => 1);
    expect((await toldHistory(app, id)).restamps).toMatchObject([
      { meaning: expect.stringContaining('only some of them still needed a new stamp') },
    ]);
  });

  it('where there are more than can be noted, it is told when that was', async () => {
    const { id } = await readProduct(app);
    const thousand = Array.from({ length: 1000 }, () => new mongo.ObjectId());
    await noted(Array.from({ length: 101 }, () => thousand));
    const { gaps } = await toldHistory(app, id);
    expect(gaps).toEqual([{ from: expect.any(String), until: expect.any(String), reason: 'late' }]);
    expect((await admin.run(aboutProducts('record history', app, id))).output).toContain(
      'not every re-stamp for the reason "late" was noted: there were too many.',
    );
  });

  it('a collection that takes no notes stops nothing', async () => {
    const validator = (query: object) =>
      service.db.command({ collMod: 'tidemark.restamps', validator: query });
    const record = await readProduct(app);
    await allNoted(service);
    const [from, before] = [await app.max('product'), await notes().countDocuments()];
    await validator({ _id: 'none' });
    await app.change('product', record, { $set: { 'data.n': 2 } });
    await allNoted(service);
    expect((await app.feed('product').drain({ from })).map(({ id }) => id)).toEqual([record.id]);
    expect(await admin.json(aboutProducts('resync', app))).toEqual({ records: 1, tombstones: 0 });
    expect(await notes().countDocuments()).toBe(before);
    await validator({});
    await app.change('product', record, { $set: { lastupdated: LONG_AGO } });
    expect((await toldHistory(app, record.id)).restamps).toMatchObject([{ reason: 'late' }]);
  });

  it('each goes when its time has come', async () => {
    const record = await readProduct(app);
    await app.change('product', record, { $set: { 'data.n': 2 } });
    await allNoted(service);
    const note = await notes().findOne({ ids: record._id });
    expect(note!.expires!.getTime() - note!.at!.getTime()).toBe(30 * 86_400_000);
    expect(await notes().indexes()).toContainEqual(
      expect.objectContaining({ key: { expires: 1 }, expireAfterSeconds: 0 }),
    );
  });
});

it('what was stamped last is noted before the service stops', async () => {
  const record = await readProduct(app);
  await app.change('product', record, { $set: { 'data.n': 2 } });
  await service.watcher.caughtUp();
  await service.leave();
  expect(await notes().countDocuments({ ids: record._id })).toBe(1);
});

/** Last: logins of the process are those of the service that was started last. */
it('with RESTAMP_HISTORY_DAYS=0 nothing is noted, and it is said so', async () => {
  const silent = await TestService.start({ RESTAMP_HISTORY_DAYS: '0' });
  try {
    const own = await silent.application();
    const { _id } = await own.product({ id: 'a' });
    await silent.watcher.caughtUp();
    await own.max('product');
    await own.change('product', { _id }, { $set: { 'data.n': 2 } });
    await silent.watcher.caughtUp();
    await silent.app.get(RestampNotes, { strict: false }).flush();
    expect(await silent.metric('tidemark_restamps_total{reason="left"}')).toBe(1);
    expect(await notes(silent.db).countDocuments()).toBe(0);
    const path = `admin/v1/applications/${own.organizationid}/${own.appid}/records/product/a/history`;
    const { json } = await send(`${silent.url}/${path}`, 'GET', { user: own.user('admin') });
    expect(json).toMatchObject({ state: 'alive', restamps: [], keptDays: 0 });
  } finally {
    await silent.stop();
  }
});
