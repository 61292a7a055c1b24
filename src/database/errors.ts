import mongoose from 'mongoose';
import { problems, type Problem } from '../common/index.js';

const { mongo } = mongoose;

const DUPLICATE_KEY = 11000;
const MAX_TIME_EXPIRED = 50;
/** Server states in which no primary takes the request: elections, shutdowns, step-downs. */
const NO_PRIMARY = new Set([6, 7, 89, 91, 189, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436]);

export function isDuplicateKey(error: unknown): error is mongoose.mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;
}

/**
 * Which writes of an unordered bulk ran into a unique index, by their place in it. Any other error goes on. For the
 * `catch` of a bulk write.
 */
export function refusedAsDuplicate(error: unknown): Set<number> {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || errors.some((one) => one.code !== DUPLICATE_KEY)) throw error;
  return new Set(errors.map((one) => one.index));
}

/** Whether the database could not be asked at all, in contrast to having refused. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof mongo.MongoServerError) return NO_PRIMARY.has(Number(error.code));
  return error instanceof mongo.MongoError || error instanceof mongoose.Error.MongooseServerSelectionError
    ? !(error instanceof mongo.MongoInvalidArgumentError)
    : isBeforeConnection(error);
}

/** Tells the clients of contract §3 what a database error means for them; nothing for errors of other origin. */
export function databaseProblem(error: unknown): Problem | undefined {
  if (isDatabaseAway(error)) return problems.databaseAway();
  if (error instanceof mongo.MongoServerError && error.code === MAX_TIME_EXPIRED)
    return problems.queryTimeout();
  return undefined;
}

/** Mongoose refuses calls before the first connection, since commands are not buffered here. */
function isBeforeConnection(error: unknown): boolean {
  return error instanceof mongoose.MongooseError && error.message.includes('initial connection');
}
