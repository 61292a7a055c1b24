import mongoose, { type mongo } from 'mongoose';

const MAX_TIME_EXPIRED = 50;

/**
 * Runs work in a transaction. The driver would retry a transaction that conflicts with another one for two minutes.
 * This one is retried for `ms` milliseconds, then fails with the error of a write that exceeds its time limit.
 */
export async function transactionWithin<T>(
  client: mongo.MongoClient,
  ms: number,
  work: (session: mongo.ClientSession) => Promise<T>,
): Promise<T> {
  const end = performance.now() + ms;
  let isAgain = false;
  return client.withSession((session) =>
    session.withTransaction(async () => {
      if (isAgain && performance.now() > end)
        throw new mongoose.mongo.MongoServerError({
          message: `Another transaction was in the way for ${ms} ms`,
          code: MAX_TIME_EXPIRED,
        });
      isAgain = true;
      return work(session);
    }),
  );
}
