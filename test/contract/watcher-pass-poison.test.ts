import { mongo } from 'mongoose';
import { Ledger, Quarantine } from '../../src/replication/store/index.js';
import { setAsideFromOutside } from '../../src/replication/store/plain.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };

it('a record that a first pass cannot learn is set aside, and looked after until that succeeds', async () => {
  const poison = { _id: new mongo.ObjectId(), ...TENANT, id: 'poison' };
  const service = await TestService.start({}, async (db) => {
    await db.createCollection('tidemark.ledger', { validator: { id: { $ne: 'poison' } } });
    const plain = Array.from({ length: 50 }, (_, n) => ({ ...TENANT, id: `plain ${n}` }));
    await db.collection('products').insertMany([...plain.slice(25), poison, ...plain.slice(0, 25)]);
  });
  const app = await service.application(TENANT);
  const set = () => service.db.collection('tidemark.quarantine').find().toArray();
  await service.watcher.caughtUp();
  expect(await set()).toMatchObject([{ _id: { what: 'record', kind: 'product', owner: poison._id } }]);
  expect(await service.db.collection('tidemark.ledger').countDocuments({ alive: true })).toBe(50);
  await service.db.command({ collMod: 'tidemark.ledger', validator: {} });
  await eventually(async () => (await set()).length === 0);
  await app.remove('product', poison);
  await service.watcher.caughtUp();
  expect((await app.hardDeletes('product').page()).ids).toEqual(['poison']);
  await service.stop();
});

describe('an entry that a pass could not confirm is confirmed by a retry, so that nothing that a term saw before counts', () => {
  let service: TestService;
  let app: TestApplication;
  beforeAll(async () => {
    service = await TestService.start();
  });
  beforeEach(async () => {
    app = await service.application();
  });
  afterAll(() => service.stop());

  const ledger = () => service.db.collection('tidemark.ledger');
  const ofProduct = (id: string) => ledger().findOne({ ...app.tenant, kind: 'product', id });

  /** A product that was deleted, and its entry in the ledger. */
  async function deleted(
    id = 'gone',
  ): Promise<{ owner: mongo.ObjectId; entry: mongo.WithId<mongo.Document> }> {
    const { _id: owner } = await app.product({ id });
    await service.watcher.caughtUp();
    await service.db.collection('products').deleteOne({ _id: owner });
    await service.watcher.caughtUp();
    return { owner, entry: (await ofProduct(id))! };
  }

  const quarantined = () => service.db.collection('tidemark.quarantine').find().toArray();

  async function setAside(...owners: mongo.ObjectId[]): Promise<void> {
    const additions = owners.map((owner) => ({
      concern: { what: 'tombstone' as const, owner },
      reason: 'refused',
    }));
    await setAsideFromOutside(service.db, additions);
    service.app.get(Quarantine, { strict: false }).expectEntries();
  }

  async function retried(owner: mongo.ObjectId): Promise<void> {
    await setAside(owner);
    await eventually(async () => (await quarantined()).length === 0);
    await service.watcher.caughtUp();
  }

  it('one that lives again by a late write of an abandoned term becomes a hard delete once more', async () => {
    const { owner, entry } = await deleted();
    const from = await app.max('product');
    const late = { $set: { alive: true, owner }, $unset: { lastupdated: '' } };
    await ledger().updateOne({ _id: entry._id }, late);
    await retried(entry._id);
    expect(await ofProduct('gone')).toMatchObject({ _id: entry._id, alive: false });
    const deletes = await app.hardDeletes('product').drain({ from, to: await app.max('product') });
    expect(deletes.map(({ id }) => id)).toEqual(['gone']);
  });

  it('one that an abandoned term writes after the retry stays dead', async () => {
    const { owner, entry } = await deleted();
    await retried(entry._id);
    const identity = { ...app.tenant, kind: 'product', id: 'gone' } as const;
    const late = { identity, at: entry['learned'] as string, alive: true as const, owner };
    expect(await service.app.get(Ledger, { strict: false }).learn([late])).toEqual([]);
    expect(await ofProduct('gone')).toMatchObject({ alive: false });
  });

  it('one that a transaction of another program holds delays no other', async () => {
    const [{ entry: held }, { owner, entry: late }] = [await deleted('held'), await deleted('late')];
    await ledger().updateOne(
      { _id: late._id },
      { $set: { alive: true, owner }, $unset: { lastupdated: '' } },
    );
    await service.client.withSession(async (holder) => {
      holder.startTransaction();
      await ledger().updateOne({ _id: held._id }, { $set: { held: true } }, { session: holder });
      await setAside(held._id, late._id);
      await eventually(async () => (await quarantined()).length === 1);
      expect(await quarantined()).toMatchObject([{ _id: { what: 'tombstone', owner: held._id } }]);
      expect(holder.inTransaction()).toBe(true);
      await holder.commitTransaction();
    });
    await eventually(async () => (await quarantined()).length === 0);
    await service.watcher.caughtUp();
    expect(await ofProduct('late')).toMatchObject({ _id: late._id, alive: false });
    expect(await ofProduct('held')).toMatchObject({ _id: held._id, alive: false, held: true });
  });

  it('one that the validator of the ledger does not accept is confirmed nevertheless, as it is re-stamped', async () => {
    const { entry } = await deleted();
    await service.db.command({ collMod: 'tidemark.ledger', validator: { id: { $ne: 'gone' } } });
    await retried(entry._id);
    await service.db.command({ collMod: 'tidemark.ledger', validator: {} });
    const confirmed = await ofProduct('gone');
    expect(confirmed!['learned'] > entry['learned']).toBe(true);
    expect(confirmed!['lastupdated'] > entry['lastupdated']).toBe(true);
  });

  it('one whose record is there lives', async () => {
    const { _id: owner } = await app.product({ id: 'here' });
    await service.watcher.caughtUp();
    await retried((await ofProduct('here'))!._id);
    expect(await ofProduct('here')).toMatchObject({ alive: true, owner });
  });
});
