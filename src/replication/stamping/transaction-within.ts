import mongoose, { type mongo } from 'mongoose';

const MAX_TIME_EXPIRED = 50;

/**
 * A conflict with another transaction aborts a transaction at once, and the driver retries it for two minutes. This one is
 * retried for `ms`, then fails with the error of a write that exceeds its time limit.
 */
export async function transactionWithin(
  client: mongo.MongoClient,
  ms: number,
  work: (session: mongo.ClientSession) => Promise<void>,
): Promise<void> {
  const end = performance.now() + ms;
  let isAgain = false;
  await client.withSession((session) =>
    session.withTransaction(async () => {
      if (isAgain && performance.now() > end)
        throw new mongoose.mongo.MongoServerError({
          message: `Another transaction was in the way for ${ms} ms`,
          code: MAX_TIME_EXPIRED,
        });
      isAgain = true;
      await work(session);
    }),
  );
}
