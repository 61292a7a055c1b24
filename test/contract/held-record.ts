import type { mongo } from 'mongoose';
import { eventually } from '../support/index.js';

/** Writes in another program's transaction. */
export type HeldWrite = (
  collection: mongo.Collection,
  options: { session: mongo.ClientSession },
) => Promise<unknown>;

/**
 * Lets another program's transaction hold a record of a collection while a request has read it and waits to write, then
 * commits. What the request answers. `isWaiting` tells whether the request waits; by default, whether its write does.
 */
export async function whileHeld<T>(
  client: mongo.MongoClient,
  collection: mongo.Collection,
  write: HeldWrite,
  ask: () => Promise<T>,
  isWaiting = async () => (await writesThatWait(client, collection)) > 0,
): Promise<T> {
  const session = client.startSession();
  try {
    session.startTransaction();
    await write(client.db(collection.dbName).collection(collection.collectionName), { session });
    const answer = ask();
    await eventually(isWaiting);
    await session.commitTransaction();
    return await answer;
  } finally {
    await session.endSession();
  }
}

async function writesThatWait(client: mongo.MongoClient, collection: mongo.Collection): Promise<number> {
  const { namespace, collectionName } = collection;
  const found = await client
    .db('admin')
    .aggregate([
      { $currentOp: { allUsers: true } },
      { $match: { ns: namespace, 'command.findAndModify': collectionName } },
    ])
    .toArray();
  return found.length;
}
