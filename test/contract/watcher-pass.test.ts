import { mongo } from 'mongoose';
import { emailKeyOf } from '../../src/member/index.js';
import { LedgerSlices } from '../../src/replication/store/index.js';
import { type PassPlace, placeAfter, type WatchState } from '../../src/replication/protocol/index.js';
import { eventually, TestService, withoutWatcher } from '../support/index.js';
import { nameOf, type Profiled } from './profiler.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };
const OLD = new Date('2024-02-29T12:00:00.000Z');
const OF_RECORDS =
  /^(aggregate|find|insert|update|remove|getmore) (products|tidemark\.(ledger|incompleteidentities|channels))$/;

const idAt = (index: number) => new mongo.ObjectId((index + 1).toString(16).padStart(24, '0'));
const product = (index: number, fields: mongo.Document = {}) => ({
  _id: idAt(index),
  ...TENANT,
  id: `p-${index}`,
  lastupdated: OLD,
  data: {},
  channels: ['web'],
  ...fields,
});
const products = (count: number) => Array.from({ length: count }, (_, index) => product(index));
const leases = (db: mongo.Db) => db.collection<WatchState>('tidemark.leases');

async function livingIn(db: mongo.Db): Promise<string[]> {
  const entries = await db.collection('tidemark.ledger').find({ kind: 'product', alive: true }).toArray();
  return entries.map(({ id }) => String(id)).sort();
}

async function profiled(db: mongo.Db): Promise<void> {
  await db.createCollection('system.profile', { capped: true, size: 64 * 1024 * 1024 });
  await db.command({ profile: 2 });
}

async function profileOf(db: mongo.Db): Promise<Profiled[]> {
  await db.command({ profile: 0 });
  return db
    .collection('system.profile')
    .find<Profiled>({}, { sort: { ts: 1 } })
    .toArray();
}

describe('a first pass', () => {
  /** What the database was asked of records and what is known of them, up to readiness. */
  async function askedOver(count: number): Promise<string[]> {
    const service = await TestService.start({}, async (db) => {
      await db.collection('products').insertMany(products(count));
      await profiled(db);
    });
    const names = (await profileOf(service.db)).map(nameOf).filter((name) => OF_RECORDS.test(name));
    expect(await livingIn(service.db)).toHaveLength(count);
    await service.stop();
    return names;
  }

  it('asks the database for stretches, not for records', async () => {
    const few = await askedOver(10);
    const many = await askedOver(5000);
    expect(few).toContain('aggregate products');
    expect(many.length).toBeLessThan(few.length + 10);
  });

  it('stores how far it is, with the place and the token of its own stream', async () => {
    const places: PassPlace[] = [];
    let startAtOperationTime: mongo.Timestamp | undefined;
    const service = await TestService.start({}, async (db) => {
      await db.collection('products').insertMany(products(10));
      startAtOperationTime = (await db.command({ ping: 1 }))['operationTime'] as mongo.Timestamp;
    });
    for await (const change of leases(service.db).watch([], {
      startAtOperationTime: startAtOperationTime!,
    })) {
      if (change.operationType !== 'update') continue;
      const { pass, since } = change.updateDescription.updatedFields ?? {};
      if (pass?.reached !== undefined) places.push(pass.reached);
      if (since !== undefined) break;
    }
    await service.stop();
    const token = expect.objectContaining({ _data: expect.any(String) as string }) as unknown;
    const at = expect.stringMatching(/^[0-9A-F]{16}~$/) as unknown;
    expect(places.at(-1)).toEqual({ at, token, step: 'products', behind: idAt(9) });
  });
});

describe('members, of whose e-mails the server knows less than JavaScript', () => {
  const emails = [
    'Plain@Example.com',
    'Ärger@Example.com',
    '\u212Aelvin@example.com',
    '\u00A0blank@example.com\u3000',
    '\t\v\f trimmed@example.com\r\n',
    ' \t ',
    '',
    'straße@example.com',
    7,
    ['a@example.com'],
    null,
  ];
  /** What the server would take for right, and other things that are not. */
  const stored = (email: unknown) => [
    undefined,
    null,
    '',
    5,
    'other@example.com',
    ...(typeof email === 'string'
      ? [email, email.trim(), email.replace(/[A-Z]/g, (letter) => letter.toLowerCase())]
      : []),
  ];

  it('get the right key, whatever they had', async () => {
    const members = emails
      .flatMap((email) => stored(email).map((emailkey) => ({ data: { email }, emailkey })))
      .map((fields, index) => ({ ...product(index, { appid: `app-${index}` }), ...fields }));
    const service = await TestService.start({}, (db) =>
      db.collection('members').insertMany(members, { ignoreUndefined: true }),
    );
    const found = await service.db
      .collection('members')
      .find({}, { sort: { _id: 1 } })
      .toArray();
    expect(found.map(({ emailkey }) => emailkey as unknown)).toEqual(
      members.map(({ data }) => emailKeyOf(data.email)),
    );
    await service.stop();
  });
});

describe('a pass that was cut off', () => {
  const LEARNED = 20;
  let service: TestService;
  beforeEach(async () => {
    service = await TestService.start({}, (db) => db.collection('products').insertMany(products(30)));
    await service.watcher.caughtUp();
    await service.leave();
  });
  afterEach(() => service.stop());

  /** As if the first pass had come to a record, and then no instance had run for a while, in which a lot happened. */
  async function cutOff(token?: unknown): Promise<void> {
    const { db } = service;
    const state = (await leases(db).findOne())!;
    await db.collection('products').deleteOne({ id: 'p-3' });
    await db.collection('products').updateOne({ id: 'p-5' }, { $set: { id: 'moved' } });
    await db.collection('products').insertOne({ ...product(0), _id: new mongo.ObjectId(), id: 'new' });
    await db.collection('tidemark.ledger').deleteMany({ owner: { $gte: idAt(LEARNED) } });
    const behind = idAt(LEARNED - 1);
    const reached = { at: placeAfter(state.since!), token: token ?? state.token, step: 'products', behind };
    const told = { reason: 'first start', isRepair: false, isBare: true, started: new Date() };
    const pass = { ...told, done: LEARNED, total: 30, reached };
    await leases(db).updateOne({}, { $set: { pass }, $unset: { since: '', token: '' } });
  }

  const left = products(30)
    .map(({ id }) => id)
    .filter((id) => id !== 'p-3' && id !== 'p-5');
  const there = [...left, 'moved', 'new'].sort();

  it('goes on where it was, and what happened meanwhile is told by its stream', async () => {
    await cutOff();
    await profiled(service.db);
    const next = await service.another();
    const merges = (await profileOf(service.db)).filter(({ command }) =>
      JSON.stringify(command).includes('$merge'),
    );
    expect(merges.length).toBeGreaterThan(0);
    for (const { command } of merges)
      expect(JSON.stringify(command)).toContain(`"_id":{"$gt":"${idAt(LEARNED - 1).toHexString()}"`);
    expect(await livingIn(service.db)).toEqual(there);
    expect(await service.db.collection('tidemark.ledger').distinct('id', { alive: false })).toEqual([
      'p-3',
      'p-5',
    ]);
    await next.leave();
  });

  it('begins again where the log does not reach back to its stream', async () => {
    await cutOff({ _data: '82FFFFFFFF000000012B0229296E04' });
    const next = await service.another();
    await next.watcher.caughtUp();
    expect(await livingIn(service.db)).toEqual(there);
    expect(await service.db.collection('tidemark.ledger').distinct('id', { alive: false })).toEqual([
      'p-3',
      'p-5',
    ]);
    await next.leave();
  });
});

it('a pass stores the place of its stream before it has any effect', async () => {
  const service = await TestService.start({}, (db) => db.collection('products').insertMany(products(3)));
  const slices = service.app.get(LedgerSlices);
  const confirm = slices.confirm.bind(slices);
  const places: unknown[] = [];
  jest.spyOn(slices, 'confirm').mockImplementation(async (...asked) => {
    places.push((await leases(service.db).findOne())?.pass?.reached);
    return confirm(...asked);
  });
  await service.db.collection('products').drop();
  await eventually(() => Promise.resolve(places.length > 0));
  expect(places[0]).toMatchObject({ at: expect.any(String), token: {} });
  await service.stop();
});

describe('what a stretch teaches the ledger', () => {
  it('changes the owner of what lives by a text, and neither what is dead nor what is known of a later place', async () => {
    const service = await TestService.start();
    const place = (seconds: number) => placeAfter(new mongo.Timestamp({ t: seconds, i: 1 }));
    const other = new mongo.ObjectId();
    const entry = (index: number, fields: mongo.Document) => ({
      ...{ ...TENANT, kind: 'product', id: `p-${index}` },
      ...{ alive: true, owner: other, learned: place(1), ...fields },
    });
    await withoutWatcher(service, async () => {
      await service.db
        .collection('products')
        .insertMany([...products(5), product(5, { id: 5 }), product(6, { appid: 5 }), product(7)]);
      await service.db
        .collection('tidemark.ledger')
        .insertMany([
          entry(0, {}),
          entry(1, { learned: place(3) }),
          entry(2, { learned: 7 }),
          { ...entry(3, { alive: false, lastupdated: OLD }), owner: undefined },
          entry(4, { isNumber: true }),
        ]);
      const piece = { range: { behind: undefined, end: idAt(99) }, share: { but: [] } };
      await service.app.get(LedgerSlices).learnFirst('product', piece, place(2));
      const entries = await service.db
        .collection('tidemark.ledger')
        .find({}, { sort: { id: 1 } })
        .toArray();
      expect(
        entries.map(({ id, alive, owner, learned }) => [id, alive, owner, learned] as unknown[]),
      ).toEqual([
        ['p-0', true, idAt(0), place(2)],
        ['p-1', true, other, place(3)],
        ['p-2', true, idAt(2), place(2)],
        ['p-3', false, null, place(1)],
        ['p-4', true, other, place(1)],
        ['p-7', true, idAt(7), place(2)],
      ]);
    });
    await service.stop();
  });
});
