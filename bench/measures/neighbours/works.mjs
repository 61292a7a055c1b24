/** What other programs do in an application of their own, to the watcher that all applications share. */
import mongoose from 'mongoose';

const { ObjectId } = mongoose.mongo;
const OWN = { organizationid: 'bench', appid: 'neighbour' };
const BATCH = 5000;
/** A document may have 16 MB, and the event of the change, its `_id` included, as much. */
const GIANT = 'x'.repeat(9_000_000);
const LONG_ID = 'x'.repeat(6_000_000);

/** Each by its name: it writes so many records into a database. */
export const works = {
  nobody: () => Promise.resolve(),
  'members with one e-mail': (db, count) =>
    inBatches(db.collection('members'), count, (n) => memberAt(n, 'unknown@example.com')),
  'records with a text as _id': (db, count) =>
    inBatches(db.collection('products'), count, (n) => ({ ...productAt(n), _id: `text-${n}` })),
  'records without id and stamp': (db, count) =>
    inBatches(db.collection('products'), count, () => ({ ...OWN, type: 'product', data: {} })),
  'a giant channel, e-mail and _id': giants,
};

async function inBatches(collection, count, documentAt) {
  for (let first = 0; first < count; first += BATCH) {
    const length = Math.min(BATCH, count - first);
    await collection.insertMany(Array.from({ length }, (_, index) => documentAt(first + index)));
  }
}

async function giants(db) {
  await db.collection('members').insertOne(memberAt('giant', `${GIANT}@example.com`));
  await db.collection('products').insertOne({ ...productAt('giant'), channels: [GIANT] });
  await db.collection('products').insertOne({ ...productAt('long'), _id: LONG_ID });
}

function memberAt(number, email) {
  return { ...recordAt('member', number), data: { email } };
}

function productAt(number) {
  return { ...recordAt('product', number), data: {} };
}

function recordAt(type, number) {
  const now = new Date();
  return {
    ...{ _id: new ObjectId(), ...OWN, id: `neighbour-${type}-${number}`, type },
    ...{ createDate: now, createdBy: 'neighbour', lastupdated: now },
  };
}
