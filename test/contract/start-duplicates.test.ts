import { mongo } from 'mongoose';
import { placeAfter } from '../../src/replication/protocol/index.js';
import { TestService } from '../support/index.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };

it('members that got the same emailkey while its index was away: the first keeps it, the start goes on', async () => {
  const service = await TestService.start({}, (db) =>
    db.collection('members').insertMany(
      ['a', 'b', 'c'].map((id) => ({
        ...TENANT,
        id,
        lastupdated: new Date(),
        data: { email: 'ada@example.org' },
        emailkey: 'ada@example.org',
      })),
    ),
  );
  const members = await service.db
    .collection('members')
    .find({}, { sort: { id: 1 } })
    .toArray();
  expect(members.map(({ emailkey }) => emailkey as unknown)).toEqual([
    'ada@example.org',
    undefined,
    undefined,
  ]);
  expect(await service.db.collection('tidemark.emailduplicates').countDocuments(TENANT)).toBe(2);
  await service.stop();
});

it('ledger entries of one identity, written while their index was away: the latest knowledge counts', async () => {
  const entry = (learned: number, more: object) => ({
    ...TENANT,
    kind: 'product',
    id: 'a',
    learned: placeAfter(new mongo.Timestamp({ t: learned, i: 1 })),
    ...more,
  });
  const lives = { alive: true, owner: new mongo.ObjectId() };
  const latest = entry(3, { _id: new mongo.ObjectId(), alive: false, lastupdated: new Date(5) });
  const service = await TestService.start({}, (db) =>
    db.collection('tidemark.ledger').insertMany([entry(1, lives), latest, entry(2, lives)]),
  );
  const app = await service.application(TENANT);
  expect((await app.hardDeletes('product').drain()).map(({ id }) => id)).toEqual(['a']);
  const left = await service.db.collection('tidemark.ledger').find({ id: 'a' }).toArray();
  expect(left.map(({ _id }) => _id)).toEqual([(latest as mongo.Document)['_id']]);
  await service.stop();
});
