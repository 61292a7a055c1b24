/**
 * Reads all products page by page through the driver, raw, and makes JSON of them or not; answers its own CPU time. Its heap
 * is set up as that of the service, else most of what is measured is V8 looking for room.
 */
import mongoose from 'mongoose';
import { setUpHeap } from '../../dist/heap.js';
import { giveBack, itemsText, rawBatch } from '../../dist/replication/feed/bytes/index.js';
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

function makeItems(cursor) {
  const { documents } = rawBatch(cursor);
  for (const { pieces } of itemsText(documents, SHAPE)) pieces.forEach(giveBack);
}
