import { mongo } from 'mongoose';
import {
  type AuditProgress,
  Expiry,
  IncompleteReview,
  QuarantineRetry,
} from '../../src/replication/watcher/index.js';
import {
  type IncompleteIdentity,
  type LedgerEntry,
  type SetAside,
  WorkedThrough,
} from '../../src/replication/store/index.js';
import { type PassProgress, placeAfter } from '../../src/replication/protocol/index.js';
import {
  eventually,
  QUICK_AUDIT,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';
import { type Held, OwnPasses, passToCome } from './own-pass.js';

const DAY_MS = 86_400_000;
/** More than one look takes. */
const MANY = 600;

let service: TestService;
let passing: TestApplication;
let other: TestApplication;
let passes: OwnPasses;
let held: Held;
beforeAll(async () => {
  service = await TestService.start({ ...QUICK_AUDIT, TOMBSTONE_RETENTION_DAYS: '30' });
  passes = new OwnPasses(service);
});
beforeEach(async () => {
  passing = await service.application();
  other = await service.application();
  for (const app of [passing, other])
    for (const n of [1, 2, 3]) await app.put('product', { id: `p${n}`, data: { n } });
  await service.watcher.caughtUp();
});
afterEach(async () => {
  await validate({});
  jest.restoreAllMocks();
  await end();
  // The next round of the audit would take long.
  await service.db.collection('products').deleteMany({});
});
afterAll(() => service.stop());

const ledger = () => service.db.collection<Partial<LedgerEntry>>('tidemark.ledger');
const versions = () =>
  service.db.collection<{ pending: boolean; version: number }>('tidemark.filterversions');
const audits = () => service.db.collection<AuditProgress>('tidemark.audits');
const audit = async () => (await audits().findOne({ _id: 'ledger' }))!;
const UNKNOWN = 'tidemark_audit_found_total{what="unknown record"}';
const quarantine = () => service.db.collection<SetAside>('tidemark.quarantine');
const both = () => [passing, other];

const incomplete = () => service.db.collection<IncompleteIdentity>('tidemark.incompleteidentities');
const partialOf = ({ tenant }: TestApplication, owner: mongo.ObjectId): IncompleteIdentity => ({
  _id: { kind: 'product', owner, ...tenant },
  ...tenant,
  learned: '1',
});

/** A new term begins, whose pass over one application does not end until it is released. */
async function begin(pass: Partial<PassProgress> = {}, before?: () => Promise<unknown>): Promise<void> {
  held = passes.hold({ apps: [passing] });
  await withoutWatcher(service, async () => {
    await before?.();
    await passes.store({ pass: passToCome(pass) }, passing);
  });
  await held.isHeld();
}

async function isPassing(): Promise<boolean> {
  const [one, ...others] = await passes.aside();
  return one?.pass !== undefined && one.appid === passing.appid && others.length === 0;
}

async function validate(validator: object): Promise<void> {
  await service.db.command({ collMod: 'tidemark.ledger', validator });
}

async function end(): Promise<void> {
  held.release();
  await passes.together();
}

function setAside(owner: mongo.ObjectId, more: Partial<SetAside>): SetAside {
  const _id = { what: 'record', kind: 'product', owner } as const;
  const [since, entry] = [new Date(), new mongo.ObjectId()];
  return { _id, entry, reason: '', since, due: since, events: 1, refusals: 0, tries: 0, ...more };
}

/** Waits for something that comes only once the watcher has gone on: on an idle server it does so every two seconds. */
async function besideChanges(isSo: () => Promise<boolean>): Promise<void> {
  await eventually(async () => {
    await other.put('product');
    return isSo();
  });
  expect(await isPassing()).toBe(true);
}

describe('while a pass over one application is under way, the leader looks after all others, and leaves that one out', () => {
  it('hard deletes whose retention has ended are removed', async () => {
    const expiry = service.app.get(Expiry, { strict: false });
    jest.replaceProperty(expiry as unknown as { leftOutMs: number }, 'leftOutMs', 100);
    const kept = () => ledger().distinct('appid', { id: 'old', alive: false });
    const learned = placeAfter(new mongo.Timestamp({ t: 1, i: 1 }));
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
    const tombstones = both().flatMap(({ tenant }) => {
      const tombstone = { ...tenant, kind: 'product' as const, alive: false, learned };
      return [
        { ...tombstone, id: 'old', lastupdated: daysAgo(31) },
        { ...tombstone, id: 'young', lastupdated: daysAgo(1) },
      ];
    });
    // A pass that repairs would stamp them anew, and so would a leader whose mark was raised before it has read of them.
    await begin({ isRepair: false }, () => ledger().insertMany(tombstones));
    await besideChanges(async () => (await kept()).length < 2);
    expect(await kept()).toEqual([passing.appid]);
    await end();
    await eventually(async () => (await kept()).length === 0);
  });

  it('a record in quarantine is learned and delivered once the cause is gone', async () => {
    const owners = () => quarantine().distinct('_id.owner');
    await validate({ id: { $not: { $regex: '^y' } } });
    const records = await Promise.all(both().map((app) => app.put('product', { id: 'y' })));
    await eventually(async () => (await owners()).length === 2);
    const from = await other.max('product');
    await begin();
    await validate({});
    await besideChanges(async () => (await owners()).length < 2);
    expect(await owners()).toEqual([records[0]!._id]);
    expect((await other.feed('product').drain({ from })).map(({ id }) => id)).toContain('y');
    await end();
    await eventually(async () => (await owners()).length === 0);
  });

  it('the audit finds faults of the ledger and puts them right', async () => {
    const appid = { $in: both().map((app) => app.appid) };
    const learned = () => ledger().distinct('appid', { appid, id: 'p1', alive: true });
    await begin();
    const before = await service.metric(UNKNOWN);
    for (const { tenant } of both()) await ledger().deleteOne({ ...tenant, id: 'p1' });
    await besideChanges(async () => (await learned()).includes(other.appid));
    const { round } = await audit();
    await besideChanges(async () => (await audit()).round >= round + 2);
    expect([await learned(), (await service.metric(UNKNOWN)) - before]).toEqual([[other.appid], 1]);
  });

  it('incomplete identities of records that are gone are forgotten', async () => {
    const owner = new mongo.ObjectId();
    const known = () => incomplete().distinct('appid', { '_id.owner': owner });
    await begin();
    for (const app of both()) await incomplete().insertOne(partialOf(app, owner));
    const review = service.app.get(IncompleteReview, { strict: false });
    const { signal } = new AbortController();
    await besideChanges(async () => {
      await review.step(signal);
      return (await known()).length < 2;
    });
    expect(await known()).toEqual([passing.appid]);
  });

  it('the records of an edited filter are stamped', async () => {
    for (const app of both()) await app.filter('product', 'few', { 'data.n': { $lte: 1 } });
    await begin();
    const version = async ({ tenant }: TestApplication) =>
      (await versions().findOne({ ...tenant, name: 'few' }))!;
    const edit = ({ tenant }: TestApplication) =>
      service.db.collection('services').updateOne({ ...tenant }, { $set: { filter: { 'data.n': 3 } } });
    await edit(passing);
    await besideChanges(async () => (await version(passing)).pending);
    const { version: before } = await version(other);
    await edit(other);
    await besideChanges(async () => {
      const { pending, version: now } = await version(other);
      return now > before && !pending;
    });
    expect((await version(passing)).pending).toBe(true);
    await end();
    await eventually(async () => !(await version(passing)).pending);
  });

  it('many records of the application in quarantine hold up none of another one', async () => {
    const records = await passing.products(MANY);
    const one = await other.put('product');
    await service.watcher.caughtUp();
    await begin();
    await quarantine().insertMany([
      ...records.map(({ _id }) => setAside(_id, { due: new Date(0) })),
      setAside(one._id, {}),
    ]);
    await besideChanges(async () => (await quarantine().findOne({ '_id.owner': one._id })) === null);
    expect(await quarantine().countDocuments()).toBe(MANY);
  });
});

it('an entry of the quarantine waits for every application that it may concern', async () => {
  const learned = placeAfter(new mongo.Timestamp({ t: 1, i: 1 }));
  await begin();
  /** By what an entry concerns an application. */
  const concerning = async (app: TestApplication): Promise<Record<string, SetAside>> => {
    const identity = { kind: 'product' as const, ...app.tenant, id: 'shown' };
    const { _id: present } = await app.put('product');
    const [owning, partial, unnamed] = [new mongo.ObjectId(), new mongo.ObjectId(), new mongo.ObjectId()];
    await ledger().insertOne({ ...identity, alive: true, owner: owning, learned });
    await incomplete().insertOne(partialOf(app, partial));
    const { insertedId } = await ledger().insertOne({ ...identity, id: 'gone', alive: false, learned });
    return {
      record: setAside(present, {}),
      ledger: setAside(owning, {}),
      incomplete: setAside(partial, {}),
      shown: setAside(unnamed, { identities: [identity] }),
      last: setAside(unnamed, { known: { ...identity, learned } }),
      tombstone: setAside(unnamed, { _id: { what: 'tombstone', owner: insertedId } }),
    };
  };
  const [waiting, ready] = [await concerning(passing), await concerning(other)];
  const services = setAside(new mongo.ObjectId(), { _id: { what: 'services' } });
  const { at } = await service.app.get(WorkedThrough, { strict: false }).now();
  const retry = service.app.get(QuarantineRetry, { strict: false });
  const ofEntries = (entries: SetAside[]) =>
    retry.within({ share: { but: [passing.tenant] }, withoutKinds: [] }, entries, at);
  for (const [what, entry] of Object.entries(waiting))
    expect([what, await ofEntries([entry])]).toEqual([what, []]);
  const others = [...Object.values(ready), services];
  expect(await ofEntries([...Object.values(waiting), ...others])).toEqual(others);
});
