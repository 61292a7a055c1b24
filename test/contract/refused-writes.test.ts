import { mongo } from 'mongoose';
import { startLocked } from '../support/own-mongod.js';
import { eventually, type Stored, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

/** A record that has this field does not fit the validator. */
const VALIDATOR = { 'data.misfit': { $exists: false } };
const MISFIT = { misfit: true };
const OLD = new Date('2020-01-01');
const MANY = 40;

let locked: Awaited<ReturnType<typeof startLocked>>;
let service: TestService;
let app: TestApplication;

/** The service may read and write, and must not bypass validators; the test may do anything. */
beforeAll(async () => {
  locked = await startLocked([{ name: 'plain', roles: [{ role: 'readWrite', db: 'tidemark' }] }]);
  const uri = locked.as('root');
  const client = await new mongo.MongoClient(uri, { writeConcern: { w: 'majority' } }).connect();
  const database = { uri, client, db: client.db('tidemark') };
  service = await TestService.startOn(database, { MONGODB_URI: locked.as('plain') });
});
beforeEach(async () => {
  app = await service.application();
});
afterEach(async () => {
  await validate('products', {});
  await validate('members', {});
  await healed();
});
afterAll(async () => {
  await service.stop();
  await locked.stop();
});

const validate = (collection: string, validator: object) =>
  service.db.command({ collMod: collection, validator });
const quarantine = () => service.db.collection('tidemark.quarantine');
const setAside = () => quarantine().countDocuments();
const ledger = () => service.db.collection('tidemark.ledger');
const isEmpty = async () => (await setAside()) === 0;

/** The records in quarantine were looked after in vain. They leave it, although none is due within an hour. */
async function healed(): Promise<void> {
  await eventually(async () => (await quarantine().countDocuments({ tries: 0 })) === 0);
  await quarantine().updateMany({}, { $set: { due: new Date(Date.now() + 3_600_000) } });
  await validate('products', { 'data.other': { $exists: false } });
  await validate('members', { 'data.other': { $exists: false } });
  await eventually(isEmpty);
  await service.watcher.caughtUp();
}

/** A record as another program writes it that has the right to bypass the validator. */
async function forced(collection: string, fields: mongo.Document): Promise<Stored> {
  const _id = new mongo.ObjectId();
  const record = { _id, ...app.tenant, id: _id.toHexString(), lastupdated: OLD, data: MISFIT, ...fields };
  await service.db.collection(collection).insertOne(record, { bypassDocumentValidation: true });
  return record;
}

const idsIn = (items: { id: string }[]) => items.map(({ id }) => id);
const newProducts = async (from: Date) => idsIn(await app.feed('product').drain({ from }));

describe('what a validator refuses is set aside, told, and delivered once the validator is gone', () => {
  it('an edited filter', async () => {
    const products = await app.products(MANY, () => ({ data: MISFIT }));
    await app.filter('product', 'edited', { 'data.n': 1 });
    await validate('products', VALIDATOR);
    const from = await app.max('product');
    const counted = await service.presentMetric('tidemark_refused_writes_total{what="stamp"}');
    await service.db
      .collection('services')
      .updateOne({ ...app.tenant, name: 'edited' }, { $set: { filter: { 'data.misfit': true } } });
    await service.watcher.caughtUp();
    expect(await quarantine().countDocuments({ '_id.kind': 'product' })).toBe(MANY);
    expect(await service.metric('tidemark_refused_writes_total{what="stamp"}')).toBeGreaterThanOrEqual(
      counted + MANY,
    );
    await eventually(async () => (await service.metric('tidemark_quarantined')) === MANY);
    await eventually(async () => (await quarantine().countDocuments({ tries: { $gt: 1 } })) === MANY);
    await healed();
    const delivered = idsIn(await app.feed('product', 'edited').drain({ from }));
    expect(delivered.sort()).toEqual(products.map(({ id }) => String(id)).sort());
  });

  it('a resync', async () => {
    const [misfit, other] = [await app.product({ data: MISFIT }), await app.product()];
    await service.watcher.caughtUp();
    await validate('products', VALIDATOR);
    const from = await app.max('product');
    const { organizationid, appid } = app.tenant;
    const words = `resync --org ${organizationid} --app ${appid} --kind product --json`;
    const { code, output, errors } = await new AdminConsole(locked.as('plain')).run(words);
    expect([code, JSON.parse(output)]).toMatchObject([
      1,
      { records: 1, tombstones: 0, refused: 1, setAside: [{ what: 'record', id: misfit['id'] }] },
    ]);
    expect(errors.join()).toContain(String(misfit['id']));
    expect(await quarantine().find().toArray()).toMatchObject([{ _id: { owner: misfit._id }, events: 0 }]);
    await healed();
    expect((await newProducts(from)).sort()).toEqual([misfit['id'], other['id']].sort());
  });

  it('a late stamp', async () => {
    await app.product();
    const from = await app.max('product');
    await validate('products', VALIDATOR);
    const { id } = await forced('products', {});
    await eventually(async () => (await setAside()) === 1);
    await healed();
    expect(await newProducts(from)).toEqual([id]);
  });

  it('a stamp that is missing, of a record that was replaced', async () => {
    const { _id, id } = await app.product();
    await service.watcher.caughtUp();
    const from = await app.max('product');
    await validate('products', VALIDATOR);
    const bare = { ...app.tenant, id, data: MISFIT };
    await service.db.collection('products').replaceOne({ _id }, bare, { bypassDocumentValidation: true });
    await eventually(async () => (await setAside()) === 1);
    await healed();
    expect(await newProducts(from)).toEqual([id]);
  });

  it('an `id`: the ledger has none that no record has', async () => {
    await app.product();
    const from = await app.max('product');
    await validate('products', VALIDATOR);
    const { _id } = await forced('products', { id: null });
    await eventually(async () => (await setAside()) === 1);
    await service.watcher.caughtUp();
    expect(await ledger().findOne({ owner: _id })).toBeNull();
    await healed();
    const { id } = (await service.db.collection('products').findOne({ _id })) as unknown as Stored;
    expect(await newProducts(from)).toEqual([id]);
    expect(await ledger().find({ owner: _id }).toArray()).toMatchObject([{ id, alive: true }]);
    await app.remove('product', { _id });
    expect((await app.hardDeletes('product').page()).ids).toEqual([id]);
  });

  it('a record that came back under an `id` that was deleted', async () => {
    await app.remove('product', await app.product({ id: 'back' }));
    const [gone] = (await app.hardDeletes('product').page()).items;
    const from = await app.max('product');
    await validate('products', VALIDATOR);
    await forced('products', { id: 'back' });
    await eventually(async () => (await setAside()) === 1);
    await healed();
    const [item] = await app.feed('product').drain({ from });
    expect(item!.id).toBe('back');
    const stamps = [item, gone].map(
      (one) => new Date((one!['lastupdated'] ?? one!['lastUpdated']) as string),
    );
    expect(stamps[0]! > stamps[1]!).toBe(true);
    expect((await app.hardDeletes('product').page()).ids).toEqual([]);
  });

  it('a key of an e-mail: no other member gets the e-mail afterwards', async () => {
    await validate('members', VALIDATOR);
    const { _id } = await forced('members', { data: { ...MISFIT, email: 'a@example.com' } });
    await eventually(async () => (await setAside()) === 1);
    await healed();
    const members = service.db.collection('members');
    expect(await members.findOne({ _id })).toMatchObject({ emailkey: 'a@example.com' });
    const body = { accountnumber: '1', email: 'A@example.com' };
    const answer = await app.send('POST', 'api/v0.1/member', { body });
    expect([answer.status, (answer.json as { type: string }).type]).toEqual([
      409,
      'urn:tidemark:problem:email-conflict',
    ]);
  });

  it('a key that is not to be kept, since the member has another e-mail', async () => {
    const { _id } = await app.member({ data: { email: 'first@example.com' } });
    await service.watcher.caughtUp();
    await validate('members', VALIDATOR);
    const data = { ...MISFIT, email: 'second@example.com' };
    await service.db
      .collection('members')
      .updateOne({ _id }, { $set: { data } }, { bypassDocumentValidation: true });
    await eventually(async () => (await setAside()) === 1);
    await healed();
    expect(await service.db.collection('members').findOne({ _id })).toMatchObject({
      emailkey: 'second@example.com',
    });
  });
});

it('a collection with a validator that is renamed over ours is delivered once the validator is gone', async () => {
  await app.products(2);
  const from = await app.max('product');
  await service.db.createCollection('replacement', { validator: VALIDATOR });
  const { id } = await forced('replacement', {});
  await service.db.collection('replacement').rename('products', { dropTarget: true });
  await eventually(async () => (await setAside()) >= 1);
  await healed();
  await eventually(async () => (await newProducts(from)).includes(id as string));
});

it('a record in quarantine that is changed so that it fits is delivered without another cause', async () => {
  await app.product();
  const from = await app.max('product');
  await validate('products', VALIDATOR);
  const record = await forced('products', {});
  await eventually(async () => (await quarantine().findOne({}))?.['tries'] > 0);
  await quarantine().updateMany({}, { $set: { due: new Date(Date.now() + 3_600_000) } });
  await app.change('product', record, { $unset: { 'data.misfit': '' } });
  await eventually(isEmpty);
  await service.watcher.caughtUp();
  expect(await newProducts(from)).toEqual([record['id']]);
});

it('one that is deleted leaves the quarantine, and is told as a hard delete', async () => {
  await app.product();
  await app.max('product');
  await validate('products', VALIDATOR);
  const record = await forced('products', {});
  await eventually(async () => (await setAside()) === 1);
  await app.remove('product', record);
  expect((await app.hardDeletes('product').page()).ids).toEqual([record['id']]);
  await eventually(isEmpty);
});

it('of a record whose former `id`s were set aside too, their hard deletes are delivered once', async () => {
  const { _id } = await app.product({ id: 'x', data: MISFIT });
  await service.watcher.caughtUp();
  await validate('tidemark.ledger', { id: { $not: { $regex: '^y' } } });
  for (const id of ['y', 'w'])
    await service.db.collection('products').updateOne({ _id }, [{ $set: { id, lastupdated: '$$NOW' } }]);
  await eventually(async () => (await quarantine().findOne({ '_id.owner': _id }))?.['events'] === 2);
  await validate('products', VALIDATOR);
  await validate('tidemark.ledger', {});
  const triedOften = async (refusals: number) =>
    (await quarantine().findOne({ refusals: { $gte: refusals } })) !== null;
  await eventually(() => triedOften(1));
  await service.watcher.caughtUp();
  const deletes = async () =>
    (await app.hardDeletes('product').page()).items.map(({ id, lastUpdated }) => [id, lastUpdated]);
  const before = await deletes();
  expect(before.map(([id]) => id).sort()).toEqual(['x', 'y']);
  await quarantine().updateMany({}, { $set: { due: new Date(0) } });
  await eventually(() => triedOften(2));
  await service.watcher.caughtUp();
  expect(await deletes()).toEqual(before);
});
