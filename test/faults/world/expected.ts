import { setTimeout as wait } from 'node:timers/promises';
import { mongo } from 'mongoose';

/** What MongoDB says while a server goes down, comes up, or others write the same at the same time. */
const PASSING = new Set([
  6, 7, 11, 24, 26, 48, 50, 64, 79, 89, 91, 112, 117, 133, 134, 136, 175, 189, 211, 237, 244, 246, 251, 276,
  286, 10107, 11000, 11600, 11602, 12587, 13388, 13435, 13436,
]);

const PERSISTENCE_MS = 180_000;
const AGAIN_MS = 50;

/** Whether an error belongs to the life that a history leads; anything else is a fault of the harness. */
export function isExpected(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause instanceof mongo.MongoServerError) {
    return PASSING.has(Number(cause.code)) || cause.hasErrorLabel('TransientTransactionError');
  }
  return cause instanceof mongo.MongoNetworkError || cause instanceof mongo.MongoServerSelectionError;
}

/** A broken connection within a bulk comes as an error of the bulk. */
function causeOf(error: unknown): unknown {
  const { errorResponse } = error instanceof mongo.MongoBulkWriteError ? error : {};
  return errorResponse instanceof Error ? errorResponse : error;
}

/** Does something again until it succeeds, as an operator does who knows that it must be done. */
export async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + PERSISTENCE_MS; ;) {
    try {
      return await work();
    } catch (error) {
      if (!isExpected(error) || Date.now() > end) throw error;
      await wait(AGAIN_MS);
    }
  }
}
