import { mongo } from 'mongoose';
import { BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { TestService } from '../support/index.js';

const COUNT = 2000;
const TENANT = { organizationid: 'acme', appid: 'shop' };
const OLD = new Date('2024-02-29T12:00:00.000Z');

/** Records as another program has written them over the years. */
const existing = (prefix: string, email: boolean) =>
  Array.from({ length: COUNT }, (_, index) => ({
    _id: new mongo.ObjectId(),
    ...TENANT,
    id: `${prefix}-${index}`,
    type: prefix,
    createDate: OLD,
    createdBy: 'erp',
    lastupdated: new Date(OLD.getTime() + index),
    data: {
      name: `Name ${index}`,
      ...(email && { email: ` Person.${index}@Example.com ` }),
      deep: { list: [1, 'x'] },
    },
    channels: [`channel-${index % 5}`],
    somethingOfTheirs: new mongo.Binary(Buffer.from([index % 256])),
  }));

const members = existing('member', true);
const products = existing('product', false);

/** By `id`: stamps that no feed can go by. */
const BAD_STAMPS: Record<string, mongo.Document> = {
  none: {},
  future: { lastupdated: new Date('2999-01-01T00:00:00.000Z') },
  text: { lastupdated: '2024-02-29T12:00:00.000Z' },
};
const ODD = { organizationid: 'acme', appid: 'odd' };

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({}, async (db) => {
    await db.collection<object>('members').insertMany(members);
    await db.collection<object>('products').insertMany(products);
    for (const kind of BUILT_IN_KINDS)
      for (const [id, stamp] of Object.entries(BAD_STAMPS))
        await db.collection(`${kind}s`).insertOne({ ...ODD, id, ...stamp, data: {} });
  });
  await service.watcher.caughtUp();
});
afterAll(() => service.stop());

describe('A first start over existing records with good stamps moves no stamp and changes nothing', () => {
  const bytes = async (collection: string, projection: mongo.Document = {}) => {
    const found = service.db.collection(collection).find(TENANT, { raw: true, projection, sort: { _id: 1 } });
    return ((await found.toArray()) as unknown as Uint8Array[]).map((raw) =>
      Buffer.from(raw).toString('hex'),
    );
  };
  const hex = (record: mongo.Document) => Buffer.from(mongo.BSON.serialize(record)).toString('hex');

  it('2,000 products are the same bytes', async () => {
    expect(await bytes('products')).toEqual(products.map(hex));
  });

  it('2,000 members only gain `emailkey`', async () => {
    expect(await bytes('members', { emailkey: 0 })).toEqual(members.map(hex));
    const keys = await service.db
      .collection('members')
      .find(TENANT, { sort: { _id: 1 } })
      .toArray();
    expect(keys.map(({ emailkey }) => emailkey as unknown)).toEqual(
      members.map((_, index) => `person.${index}@example.com`),
    );
  });

  it('the ledger knows every record, and no delete', async () => {
    for (const kind of ['member', 'product']) {
      const entries = service.db.collection('tidemark.ledger');
      expect(await entries.countDocuments({ ...TENANT, kind, alive: true })).toBe(COUNT);
      expect(await entries.countDocuments({ ...TENANT, kind, alive: false })).toBe(0);
    }
  });

  it('all of them are delivered, and `max` is the greatest stamp', async () => {
    const app = await service.application(TENANT);
    for (const kind of ['member', 'product'] as const) {
      expect(await app.feed(kind).drain()).toHaveLength(COUNT);
      expect(await app.max(kind)).toEqual(new Date(OLD.getTime() + COUNT - 1));
    }
  });

  it('a second start changes nothing either', async () => {
    const before = [await bytes('members'), await bytes('products')];
    await service.leave();
    service = await service.another();
    await service.watcher.caughtUp();
    expect([await bytes('members'), await bytes('products')]).toEqual(before);
  });
});

it('no `lastupdated`, not a date, or more than 1 s in the future: it gets one from the service', async () => {
  const app = await service.application(ODD);
  for (const kind of BUILT_IN_KINDS) {
    const items = await app.feed(kind).drain();
    expect(items.map(({ id }) => id).sort()).toEqual(Object.keys(BAD_STAMPS).sort());
  }
});
