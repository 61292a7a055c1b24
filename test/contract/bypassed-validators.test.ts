import { mongo } from 'mongoose';
import { eventually, type Stored, type TestApplication, TestService } from '../support/index.js';
import { filledUp } from './full-record.js';

const VALIDATOR = { 'data.misfit': { $exists: false } };
const MISFIT = { misfit: true };
const OLD = new Date('2020-01-01');

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterEach(() => validate({}));
afterAll(() => service.stop());

const products = () => service.db.collection('products');
const quarantine = () => service.db.collection('tidemark.quarantine');
const setAside = () => quarantine().countDocuments();
const idsIn = (items: { id: string }[]) => items.map(({ id }) => id).sort();
const newProducts = async (from: Date) => idsIn(await app.feed('product').drain({ from }));

async function validate(validator: object): Promise<void> {
  for (const name of ['products', 'members']) await service.db.command({ collMod: name, validator });
}

async function forced(collection: string, fields: mongo.Document): Promise<Stored> {
  const _id = new mongo.ObjectId();
  const record = { _id, ...app.tenant, id: _id.toHexString(), lastupdated: OLD, data: MISFIT, ...fields };
  await service.db.collection(collection).insertOne(record, { bypassDocumentValidation: true });
  return record;
}

describe('a validator that old records do not fit is none to the stamps and repairs of the service, where it may bypass it', () => {
  it('an edited filter, a late stamp, a record that came back: all are delivered', async () => {
    const old = await app.products(3, () => ({ data: MISFIT }));
    await app.remove('product', await app.product({ id: 'back' }));
    await app.filter('product', 'edited', { 'data.n': 1 });
    await validate(VALIDATOR);
    const from = await app.max('product');
    const late = await forced('products', {});
    await forced('products', { id: 'back' });
    const set = { $set: { filter: { 'data.misfit': true } } };
    await service.db.collection('services').updateOne({ ...app.tenant, name: 'edited' }, set);
    await service.watcher.caughtUp();
    const delivered = idsIn(await app.feed('product', 'edited').drain({ from }));
    expect(delivered).toEqual(['back', ...[...old, late].map(({ id }) => String(id))].sort());
    expect(await setAside()).toBe(0);
  });

  it('an `id` and a key of an e-mail: both are written', async () => {
    await validate(VALIDATOR);
    const { _id } = await forced('members', { id: 7.5, data: { ...MISFIT, email: 'A@example.com' } });
    const members = service.db.collection('members');
    await eventually(async () => (await members.findOne({ _id }))?.['emailkey'] === 'a@example.com');
    expect(typeof (await members.findOne({ _id }))?.['id']).toBe('string');
    expect(await setAside()).toBe(0);
  });
});

describe('a record with no room for a stamp is set aside, and costs nobody else anything', () => {
  it('it is delivered once it has room', async () => {
    await app.product();
    const from = await app.max('product');
    const full = filledUp({ _id: new mongo.ObjectId(), ...app.tenant, id: 'full', data: {} });
    await products().insertOne(full);
    const { id } = await app.product();
    await service.watcher.caughtUp();
    expect(await newProducts(from)).toEqual([id]);
    expect(await quarantine().find().toArray()).toMatchObject([
      { _id: { what: 'record', kind: 'product', owner: full._id }, events: 0 },
    ]);
    await app.change('product', full, { $set: { 'data.text': 'short' } });
    await eventually(async () => (await setAside()) === 0);
    await service.watcher.caughtUp();
    expect(await newProducts(from)).toEqual(['full', id].sort());
  });

  it('one without an `id` gets one then, and the ledger has no other before', async () => {
    const full = filledUp({ _id: new mongo.ObjectId(), ...app.tenant, data: {} });
    await products().insertOne(full);
    await eventually(async () => (await setAside()) === 1);
    await service.watcher.caughtUp();
    const ledger = service.db.collection('tidemark.ledger');
    expect(await ledger.findOne({ ...app.tenant })).toBeNull();
    await app.change('product', full, { $set: { 'data.text': 'short' } });
    await eventually(async () => (await setAside()) === 0);
    const { id } = (await products().findOne({ _id: full._id })) as unknown as { id: string };
    expect(await ledger.find({ ...app.tenant }).toArray()).toMatchObject([
      { id, alive: true, owner: full._id },
    ]);
  });
});
