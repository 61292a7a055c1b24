/** What other programs do in an application of their own, to the watcher that all applications share. */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import mongoose from 'mongoose';

const { ObjectId } = mongoose.mongo;
const OWN = { organizationid: 'bench', appid: 'neighbour' };
const BATCH = 5000;
const EDITS_MS = 15_000;
const BETWEEN_EDITS_MS = 100;
/** A document may have 16 MB, and the event of the change, its `_id` included, as much. */
const GIANT = 'x'.repeat(9_000_000);
const LONG_ID = 'x'.repeat(6_000_000);

/** Each by its name: it writes the given number of records into a database. */
export const works = {
  none: () => Promise.resolve(),
  'members with one e-mail': (db, count) =>
    inBatches(db.collection('members'), count, (n) => memberAt(n, 'unknown@example.com')),
  'records with a text as _id': (db, count) =>
    inBatches(db.collection('products'), count, (n) => ({ ...productAt(n), _id: `text-${n}` })),
  'records without id and stamp': (db, count) =>
    inBatches(db.collection('products'), count, () => ({ ...OWN, type: 'product', data: {} })),
  'a filter of many records that is edited ten times a second': edits,
  // The last one: with keys of megabytes in its indexes, MongoDB itself takes seconds for the inserts that follow.
  'a giant channel, e-mail and _id': giants,
};

async function inBatches(collection, count, documentAt) {
  for (let first = 0; first < count; first += BATCH) {
    const length = Math.min(BATCH, count - first);
    await collection.insertMany(Array.from({ length }, (_, index) => documentAt(first + index)));
  }
}

/** Each edit is judged over all records of the neighbour, and stamps every hundredth anew. */
async function edits(db, count) {
  const key = { ...OWN, kind: 'product', name: 'edited' };
  const end = performance.now() + EDITS_MS;
  await inBatches(db.collection('products'), count, (n) => ({
    ...productAt(`edited-${n}`),
    data: { number: n },
  }));
  for (let edit = 0; performance.now() < end; edit += 1) {
    const filter = { 'data.number': { $mod: [100, edit % 100] } };
    await db.collection('services').updateOne(key, { $set: { ...key, filter } }, { upsert: true });
    await wait(BETWEEN_EDITS_MS);
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
