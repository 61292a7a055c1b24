import { mongo } from 'mongoose';
import { eventually, TestService } from '../support/index.js';

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
