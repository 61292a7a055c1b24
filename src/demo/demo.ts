import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { literal } from '../common/index.js';
import { CLOCK } from '../database/index.js';
import { emailKeyOf } from '../member/index.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../record/index.js';
import { demoMembers, demoProducts, type DemoRecord } from './generator.js';

export const DEMO: Tenant = { organizationid: 'demo', appid: 'shop' };

const PRODUCTS = 3000;
const DISCONTINUED = 3;
const MEMBERS = 1000;
const LOOK_MS = 50;

const SERVICES = [
  { kind: 'product', name: 'bikes', filter: { 'data.category': 'bikes' } },
  { kind: 'member', name: 'newsletter', filter: { 'data.extrafields.consent.newsletter': true } },
];

/**
 * Makes the demo application with its records, where it is not there yet. The last products are deleted again, so that
 * there are hard deletes to see; the watcher must be at work for that.
 */
export async function makeDemo(db: mongo.Db): Promise<void> {
  if ((await db.collection('applications').findOne({ ...DEMO })) !== null) return;
  const products = demoProducts(PRODUCTS + DISCONTINUED);
  await write(db, 'product', products);
  await write(db, 'member', demoMembers(MEMBERS));
  await discontinue(
    db,
    products.slice(PRODUCTS).map(({ id }) => id),
  );
  for (const { kind, name, filter } of SERVICES) {
    await db
      .collection('services')
      .updateOne({ ...DEMO, kind, name }, { $set: { filter } }, { upsert: true });
  }
  await db.collection('applications').insertOne({ ...DEMO, title: 'Demo shop', settings: {} });
}

/** Deletes products and waits until the watcher has named them. */
async function discontinue(db: mongo.Db, ids: string[]): Promise<void> {
  await db.collection(COLLECTION_OF.product).deleteMany({ ...DEMO, id: { $in: ids } });
  while ((await db.collection('ledger').countDocuments({ ...DEMO, alive: false })) < ids.length)
    await wait(LOOK_MS);
}

async function write(db: mongo.Db, kind: Kind, records: DemoRecord[]): Promise<void> {
  await db.collection(COLLECTION_OF[kind]).bulkWrite(
    records.map(({ id, data, channels }) => {
      const emailkey = emailKeyOf(data['email']);
      const fields = {
        type: kind,
        createDate: CLOCK,
        createdBy: 'demo',
        lastupdated: CLOCK,
        data: literal(data),
        ...(channels && { channels: literal(channels) }),
        ...(emailkey !== undefined && { emailkey: literal(emailkey) }),
      };
      return { updateOne: { filter: { ...DEMO, id }, update: [{ $set: fields }], upsert: true } };
    }),
    { ordered: false },
  );
}
