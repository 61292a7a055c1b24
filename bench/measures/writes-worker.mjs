/** Inserts members one by one through the driver, so many at a time; answers how many a second. */
import { performance } from 'node:perf_hooks';
import mongoose from 'mongoose';
import { TENANT } from '../data/products.mjs';

const client = await new mongoose.mongo.MongoClient(process.env.MONGODB_URI, { maxPoolSize: 64 }).connect();
const members = client.db().collection('members');
await members.createIndex({ organizationid: 1, appid: 1, id: 1 }, { unique: true });

let number = 0;

process.on('message', async ({ requests, connections }) => {
  const last = number + requests;
  const begun = performance.now();
  const writer = async () => {
    while (number < last) await members.insertOne(memberOf(number++));
  };
  await Promise.all(Array.from({ length: connections }, writer));
  process.send(requests / ((performance.now() - begun) / 1000));
});
process.once('SIGTERM', () => process.exit(0));

/** A member as the service stores one. */
function memberOf(place) {
  const now = new Date();
  return {
    ...TENANT,
    id: `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`,
    ...{ type: 'member', createDate: now, createdBy: 'bench', lastupdated: now },
    data: { accountnumber: String(place), email: `member-${place}@example.org`, elevel: 1 },
    emailkey: `member-${place}@example.org`,
  };
}
