import { mongo } from 'mongoose';
import { placeAfter } from '../../src/replication/protocol/index.js';
import { type SetAside, WorkedThrough } from '../../src/replication/store/index.js';
import { Pass, QuarantineRetry } from '../../src/replication/watcher/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { gate, OwnPasses, passToCome } from './own-pass.js';

/** A kind that was just created, while passes over its records and over an application are under way. */
let service: TestService;
let app: TestApplication;
let passes: OwnPasses;
beforeAll(async () => {
  service = await TestService.alone();
  passes = new OwnPasses(service);
  app = await service.application();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

const OLD = new Date('2024-02-29T12:00:00.000Z');
const records = (name: string) => service.db.collection(name);
const record = (id: string) => ({ ...app.tenant, id, lastupdated: OLD, data: {} });
const create = (name: string) => records('kinds').insertOne({ name, collection: name });
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();
const isServed = (kind: string) => eventually(async () => (await app.get(`${kind}/max`)).status === 200);

/** Holds back passes over kinds where they have read everything, and passes over applications before they begin. */
function holdBoth() {
  const pass = service.app.get(Pass, { strict: false });
  const [ofKind, ofApplication] = [gate(), gate()];
  const run = pass.run.bind(pass);
  const prepareOwn = pass.prepareOwn.bind(pass);
  jest.spyOn(pass, 'run').mockImplementation(async (asked) => {
    await run(asked);
    if (asked.isOfKind === true) await ofKind.held();
  });
  jest.spyOn(pass, 'prepareOwn').mockImplementation(async (...asked) => {
    await ofApplication.held();
    return prepareOwn(...asked);
  });
  return { ofKind, ofApplication };
}

it('what changes after the pass over a kind has read it, and before that over its application begins, is delivered', async () => {
  await records('early').insertMany(['changed', 'deleted', 'kept'].map(record));
  const { ofKind, ofApplication } = holdBoth();
  await passes.begin(passToCome(), app);
  await ofApplication.isHeld();
  await create('early');
  await ofKind.isHeld();
  await records('early').deleteOne({ id: 'deleted' });
  await records('early').updateOne({ id: 'changed' }, { $set: { id: 'renamed' } });
  await records('early').insertOne(record('inserted'));
  ofApplication.release();
  await eventually(async () => (await passes.aside()).every(({ pass }) => pass === undefined));
  ofKind.release();
  await isServed('early');
  await passes.together();
  expect(idsOf(await app.feed('early').drain())).toEqual(['inserted', 'kept', 'renamed']);
  const ledger = service.db.collection('tidemark.ledger').find({ kind: 'early', alive: true });
  expect((await ledger.map(({ id }) => id as string).toArray()).sort()).toEqual([
    'inserted',
    'kept',
    'renamed',
  ]);
});

it('a retry of what was set aside waits for the pass over its kind', async () => {
  const { insertedId: owner } = await records('late').insertOne(record('one'));
  const { ofKind } = holdBoth();
  await create('late');
  await ofKind.isHeld();
  const worked = service.app.get(WorkedThrough, { strict: false });
  const retry = service.app.get(QuarantineRetry, { strict: false });
  const signal = AbortSignal.timeout(60_000);
  const { at } = await worked.now();
  const beside = (await worked.upTo(at, signal))!;
  expect(beside).toEqual({ share: { but: [] }, withoutKinds: ['late'] });
  const learned = placeAfter(new mongo.Timestamp({ t: 1, i: 1 }));
  const tombstone = { ...app.tenant, kind: 'late', id: 'gone', alive: false, learned };
  const { insertedId: dead } = await service.db.collection('tidemark.ledger').insertOne(tombstone);
  const product = await app.put('product');
  const setAside = (_id: object) => ({ _id }) as SetAside;
  const ofKindLate = [
    setAside({ what: 'record', kind: 'late', owner }),
    setAside({ what: 'tombstone', owner: dead }),
  ];
  const others = [setAside({ what: 'record', kind: 'product', owner: product._id })];
  expect(await retry.within(beside, [...ofKindLate, ...others], at)).toEqual(others);
  const everything = { share: { but: [] }, withoutKinds: [] };
  expect([await worked.isStill(beside, at), await worked.isStill(everything, at)]).toEqual([true, false]);
  ofKind.release();
  await isServed('late');
  // The pass has ended after that time, and may have found what no event has reported.
  expect(await worked.isStill(everything, at)).toBe(false);
  expect(await worked.upTo(at, signal)).toMatchObject({ withoutKinds: ['late'] });
  const now = await worked.now();
  expect(await worked.upTo(now.at, signal)).toMatchObject({ withoutKinds: [] });
});
