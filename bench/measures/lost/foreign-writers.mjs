/** Programs that write products straight into the collection, and stamp them by clocks of their own. */
import mongoose from 'mongoose';
import { setTimeout as wait } from 'node:timers/promises';
import { TENANT } from '../../data/products.mjs';

/** By how much the clock of each is slow. */
const SLOW_MS = [0, 40, 150, 1000];
const BREATH_MS = 2;

/** As `clientWriters`. */
export async function foreignWriters(db, seconds) {
  const products = db.collection('products');
  const versions = new Map();
  const end = Date.now() + seconds * 1000;
  const writer = async (slow) => {
    while (Date.now() < end) {
      const key = new mongoose.mongo.ObjectId().toHexString();
      await products.insertOne(productOf(key, slow));
      versions.set(key, 1);
      await wait(BREATH_MS);
      if (versions.size % 2 === 0) continue;
      const changed = { 'data.version': 2, lastupdated: new Date(Date.now() - slow) };
      await products.updateOne({ ...TENANT, id: key }, { $set: changed });
      versions.set(key, 2);
    }
  };
  await Promise.all(SLOW_MS.map(writer));
  return versions;
}

function productOf(key, slow) {
  const now = new Date(Date.now() - slow);
  return {
    ...TENANT,
    id: key,
    ...{ type: 'product', createDate: now, createdBy: 'erp', lastupdated: now },
    data: { version: 1 },
    channels: [],
  };
}
