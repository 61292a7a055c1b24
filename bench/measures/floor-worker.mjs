/**
 * Reads all products page by page through the driver, raw, and makes JSON of them or not; answers its own CPU time. Its heap
 * is set up as that of the service, else most of what is measured is V8 looking for room.
 */
import mongoose from 'mongoose';
import { setUpHeap } from '../../dist/heap.js';
import { giveBack, itemsText, rawBatch } from '../../dist/replication/transcode/index.js';
import { PAGE, pageFind } from './finds.mjs';

const SHAPE = { item: 'update', kind: 'product', withPasswordHash: false };

setUpHeap();
const client = await new mongoose.mongo.MongoClient(process.env.MONGODB_URI).connect();
const db = client.db();

process.on('message', async ({ items, json = false }) => {
  const before = process.cpuUsage();
  for (let start = 0; start < items; start += PAGE) {
    const { $db: database, ...find } = pageFind(start, { database: db.databaseName, items });
    const reply = await client.db(database).command(find, { raw: true });
    if (json) makeItems(reply.cursor);
  }
  const { user, system } = process.cpuUsage(before);
  process.send((user + system) / items);
});
process.once('SIGTERM', () => process.exit(0));

/** Like the service, which gives a page back as a whole. */
function makeItems(cursor) {
  const { documents } = rawBatch(cursor);
  const page = [...itemsText(documents, SHAPE)];
  for (const { pieces } of page) for (const piece of pieces) giveBack(piece);
}
