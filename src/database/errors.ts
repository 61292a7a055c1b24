import mongoose from 'mongoose';
import { DeadlineError } from '../common/index.js';
import { type Problem, problems } from '../http/plain.js';
import { isMomentGone } from './commands.js';
import { IndexMissingError, isIndexMissing } from './listed-indexes.js';

const { mongo } = mongoose;

const DUPLICATE_KEY = 11000;
const MAX_TIME_EXPIRED = 50;
/** The collection was dropped or renamed under a running command. */
const COLLECTION_DROPPED = 175;
/** A connection that breaks while a command is being written: the driver passes on what the socket says. */
const BROKEN_SOCKET = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);
/** What `mongodb+srv` asks the DNS. */
const LOOK_UPS = new Set(['querySrv', 'queryTxt']);
/** A document would break the validator of its collection. */
const OF_VALIDATOR = 121;
/** The same, or it would become larger than MongoDB allows. */
const UNFIT = new Set([OF_VALIDATOR, 10334, 17419]);
/** The role lacks the right to a command; the last one is what a hosted MongoDB says. */
const UNAUTHORIZED = new Set([13, 8000]);
/** What MongoDB calls a query that makes no sense: a bad value, one that it cannot read, one of a wrong type. */
const NONSENSE = new Set([2, 9, 14]);
/** From here on numbers stand for places in MongoDB's own program, such as 51091 for a regular expression. */
const PLACES = 15_000;
/** A query that somebody ended, or whose cursor is gone, as after a fail-over. */
const CUT_OFF = new Set([43, 237, 11601]);
/** Server states in which no primary takes the request: elections, shutdowns, step-downs. */
const NO_PRIMARY = new Set([6, 7, 89, 91, 189, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436]);

/** A transaction that was rolled back, and would have been tried again if there had been time. */
const ROLLED_BACK = 'TransientTransactionError';

/** A write that no majority confirmed in time, or that none can: a fail-over may roll it back. */
const UNCONFIRMED = new Set([64, 100]);

export function isDuplicateKey(error: unknown): error is mongoose.mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;
}

/** One write of an unordered bulk that MongoDB refused, by its place in the bulk. */
export interface Refusal {
  index: number;
  /** It ran into a unique index; else the document itself cannot take it. */
  isDuplicate: boolean;
  /** The validator of the collection refused it. */
  isOfValidator: boolean;
  message: string;
}

/**
 * The single writes of an unordered bulk that MongoDB refused as duplicates or for what the document would become. Any
 * other error goes on. For the `catch` of a bulk write.
 */
export function refusalsIn(error: unknown): Refusal[] {
  const errors = error instanceof mongo.MongoBulkWriteError ? [error.writeErrors].flat() : [];
  const isExpected = errors.every(({ code }) => code === DUPLICATE_KEY || UNFIT.has(code));
  if (errors.length === 0 || !isExpected || isUnconfirmed(error)) throw error;
  return errors.map(({ index, code, errmsg }) => ({
    index,
    isDuplicate: code === DUPLICATE_KEY,
    isOfValidator: code === OF_VALIDATOR,
    message: errmsg ?? '',
  }));
}

/** Whether a write was refused for what the document would become. */
export function isUnfit(error: unknown): error is mongoose.mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && UNFIT.has(Number(error.code));
}

/** Whether a write, or one of a bulk, was refused by the validator of its collection. */
export function isRefusedByValidator(error: unknown): error is mongoose.mongo.MongoServerError {
  if (error instanceof mongo.MongoBulkWriteError)
    return [error.writeErrors].flat().some(({ code }) => code === OF_VALIDATOR);
  return error instanceof mongo.MongoServerError && error.code === OF_VALIDATOR;
}

/** Whether the role of the service lacks the right to a command. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && UNAUTHORIZED.has(Number(error.code));
}

/** Which writes of an unordered bulk ran into a unique index. Any other error goes on, as in {@link refusalsIn}. */
export function refusedAsDuplicate(error: unknown): Set<number> {
  const refusals = refusalsIn(error);
  if (refusals.some(({ isDuplicate }) => !isDuplicate)) throw error;
  return new Set(refusals.map(({ index }) => index));
}

/** Whether the database could not be asked at all, in contrast to having refused. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DeadlineError) return true;
  if (error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error)
    return isDatabaseAway(error.errorResponse);
  if (error instanceof mongo.MongoServerError)
    return NO_PRIMARY.has(Number(error.code)) || isUnconfirmed(error);
  if (error instanceof mongo.MongoError) return !(error instanceof mongo.MongoInvalidArgumentError);
  if (error instanceof mongoose.Error.MongooseServerSelectionError) return true;
  const { code = '', syscall = '' } = (error ?? {}) as NodeJS.ErrnoException;
  return isBeforeConnection(error) || BROKEN_SOCKET.has(code) || LOOK_UPS.has(syscall);
}

function isUnconfirmed(error: unknown): boolean {
  if (error instanceof mongo.MongoBulkWriteError) return unconfirmedIn(error.result) !== undefined;
  return error instanceof mongo.MongoServerError && UNCONFIRMED.has(Number(error.code));
}

/** A bulk that was refused before anything was written has no result. */
function unconfirmedIn(result: Partial<mongoose.mongo.BulkWriteResult> | undefined): unknown {
  return result?.getWriteConcernError?.();
}

/** Tells the clients of contract §3 what a database error means for them; nothing for errors of other origin. */
export function databaseProblem(error: unknown): Problem | undefined {
  if (isDatabaseAway(error)) return problems.databaseAway();
  if (error instanceof IndexMissingError) return problems.preparing();
  if (!(error instanceof mongo.MongoServerError)) return undefined;
  if (CUT_OFF.has(Number(error.code))) return problems.databaseAway();
  if (error.hasErrorLabel(ROLLED_BACK)) return problems.databaseAway();
  if (isMomentGone(error) || error.code === COLLECTION_DROPPED) return problems.preparing();
  return isTimeout(error) ? problems.queryTimeout() : undefined;
}

/**
 * Whether the database refused a query for what it says, such as a filter that was right when it was tried and is not
 * over other records. One whose index is gone is no such thing.
 */
export function isRefusedQuery(error: unknown): boolean {
  if (!(error instanceof mongo.MongoServerError) || /\bhint\b/.test(error.message)) return false;
  if (isIndexMissing(error)) return false;
  const code = Number(error.code);
  return (NONSENSE.has(code) || code >= PLACES) && databaseProblem(error) === undefined;
}

/** Whether the database gave up on a query since it took longer than it may (`maxTimeMS`). */
export function isTimeout(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === MAX_TIME_EXPIRED;
}

/**
 * Whether a read may come to an answer when it is sent again: a connection broke, another server is primary, or it was
 * cut off.
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof mongo.MongoServerError)
    return NO_PRIMARY.has(Number(error.code)) || CUT_OFF.has(Number(error.code));
  return error instanceof mongo.MongoNetworkError;
}

/** Mongoose refuses calls before the first connection, since commands are not buffered here. */
function isBeforeConnection(error: unknown): boolean {
  return error instanceof mongoose.MongooseError && error.message.includes('initial connection');
}
