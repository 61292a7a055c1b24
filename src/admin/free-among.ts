import type { mongo } from 'mongoose';

/** Written within a transaction that is aborted: no reader sees it. */
const TRIAL = { $set: { 'tidemark-trial': true } };
const TRIAL_MS = 1000;

/**
 * Which of these documents no transaction of another program holds. Outside a transaction, a write waits for such a document;
 * within one, it fails at once with a conflict. Any other failure says that the document is not held.
 */
export async function freeAmong(
  client: mongo.MongoClient,
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stop: () => boolean,
): Promise<mongo.ObjectId[]> {
  const free: mongo.ObjectId[] = [];
  await client.withSession(async (session) => {
    for (const _id of ids) {
      if (stop()) return;
      if (await isFree(session, collection, _id)) free.push(_id);
    }
  });
  return free;
}

async function isFree(
  session: mongo.ClientSession,
  collection: mongo.Collection,
  _id: mongo.ObjectId,
): Promise<boolean> {
  session.startTransaction();
  try {
    await collection.updateOne({ _id }, TRIAL, { session, maxTimeMS: TRIAL_MS });
    return true;
  } catch (error) {
    return !(error as mongo.MongoError).hasErrorLabel?.('TransientTransactionError');
  } finally {
    await session.abortTransaction();
  }
}
