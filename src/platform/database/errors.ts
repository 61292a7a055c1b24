import mongoose from 'mongoose';
import { DeadlineError } from '../common/index.js';
import { type Problem, problems } from '../http/plain.js';
import { IndexMissingError, isIndexMissing } from './listed-indexes.js';

const { mongo } = mongoose;

/** The error label of a transaction that was rolled back each time until its time was over. */
export const TOO_LATE = 'TidemarkTransactionTooLate';

const DUPLICATE_KEY = 11000;
/** The server no longer holds the moment, or the collection was created, dropped or renamed since. */
const GONE = new Set([239, 246]);
const MAX_TIME_EXPIRED = 50;
/** The collection was dropped or renamed under a running command. */
const COLLECTION_DROPPED = 175;
/** A connection failed while a command was being written. The driver passes on the socket's error. */
const BROKEN_SOCKET = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);
/** The DNS queries of `mongodb+srv`. */
const LOOK_UPS = new Set(['querySrv', 'queryTxt']);
/** The document would violate the validator of its collection. */
const OF_VALIDATOR = 121;
/** The same, or the document would exceed MongoDB's maximum size. */
const UNFIT = new Set([OF_VALIDATOR, 10334, 17419]);
/** The role lacks the right to a command. The last code is that of hosted MongoDB. */
const UNAUTHORIZED = new Set([13, 8000]);
/** Codes for an invalid query: a bad value, a parse failure, a wrong type. */
const NONSENSE = new Set([2, 9, 14]);
/** Codes from here on identify locations in MongoDB's source code, such as 51091 for a regular expression. */
const PLACES = 15_000;
/** The query was killed, or its cursor is gone, as after a fail-over. */
const CUT_OFF = new Set([43, 237, 11601]);
/**
 * Server states in which no primary accepts the request: elections, shutdowns, step-downs, and a start after which no
 * majority can be read yet.
 */
const NO_PRIMARY = new Set([6, 7, 89, 91, 134, 189, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436]);

/** The transaction was rolled back. It would have been retried if there had been time. */
const ROLLED_BACK = 'TransientTransactionError';

/** A write that no majority confirmed in time, or that no majority can confirm: a fail-over may roll it back. */
const UNCONFIRMED = new Set([64, 100]);
/** The commit of a transaction failed, but may have taken effect. */
const UNKNOWN_COMMIT = 'UnknownTransactionCommitResult';

/**
 * A request came before the first connection to the database. Replaces Mongoose's error, which names a method and
 * advises programmers.
 */
class NotConnectedError extends Error {
  constructor() {
    super('The service has not connected to the database since its start');
  }
}

export function isDuplicateKey(error: unknown): error is mongoose.mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;
}

/** One write of an unordered bulk that MongoDB refused, with its index in the bulk. */
export interface Refusal {
  index: number;
  /** A unique index refused it; otherwise the document itself cannot be written. */
  isDuplicate: boolean;
  /** The validator of the collection refused it. */
  isOfValidator: boolean;
  message: string;
}

/**
 * The writes of an unordered bulk that MongoDB refused as duplicates or because of the resulting document. Rethrows
 * any other error. For the `catch` of a bulk write.
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

/** Whether a write was refused because of the resulting document. */
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

/**
 * The positions, in an unordered bulk, of the writes that a unique index refused. Rethrows any other error, as
 * {@link refusalsIn} does.
 */
export function refusedAsDuplicate(error: unknown): Set<number> {
  const refusals = refusalsIn(error);
  if (refusals.some(({ isDuplicate }) => !isDuplicate)) throw error;
  return new Set(refusals.map(({ index }) => index));
}

/**
 * Whether the database could not be reached, has no primary, did not answer in time or did not confirm a write, as
 * opposed to having refused the request.
 */
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

/** Whether a write may have been made although it failed, because no majority confirmed it. */
export function isUnconfirmed(error: unknown): boolean {
  if (error instanceof mongo.MongoBulkWriteError) return unconfirmedIn(error.result) !== undefined;
  if (error instanceof mongo.MongoError && error.hasErrorLabel(UNKNOWN_COMMIT)) return true;
  return error instanceof mongo.MongoServerError && UNCONFIRMED.has(Number(error.code));
}

/** A bulk that was refused before anything was written has no result. */
function unconfirmedIn(result: Partial<mongoose.mongo.BulkWriteResult> | undefined): unknown {
  return result?.getWriteConcernError?.();
}

/** The problem that clients receive for a database error (contract §3); undefined for any other error. */
export function databaseProblem(error: unknown): Problem | undefined {
  if (isBeforeConnection(error)) return problems.databaseAway(new NotConnectedError());
  if (isDatabaseAway(error)) return problems.databaseAway();
  if (error instanceof IndexMissingError) return problems.preparing();
  if (!(error instanceof mongo.MongoServerError)) return undefined;
  if (CUT_OFF.has(Number(error.code))) return problems.databaseAway();
  if (error.hasErrorLabel(ROLLED_BACK)) return problems.databaseAway();
  if (isMomentGone(error) || error.code === COLLECTION_DROPPED) return problems.preparing();
  return isTimeout(error)
    ? problems.queryTimeout({ isOfTransaction: isTransactionTooLate(error) })
    : undefined;
}

/**
 * Whether the database refused a query because of its content, such as a filter that was valid when it was tested but
 * fails on other records. A query whose index is missing does not count.
 */
export function isRefusedQuery(error: unknown): boolean {
  if (!(error instanceof mongo.MongoServerError) || /\bhint\b/.test(error.message)) return false;
  if (isIndexMissing(error)) return false;
  const code = Number(error.code);
  return (NONSENSE.has(code) || code >= PLACES) && databaseProblem(error) === undefined;
}

/** Whether the database aborted a query that exceeded its time limit (`maxTimeMS`). */
export function isTimeout(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === MAX_TIME_EXPIRED;
}

/**
 * The number of documents that a failed write has modified, as far as the server states it: it does if the time limit
 * ended only the wait for the majority.
 */
export function modifiedBefore(error: unknown): number {
  if (!(error instanceof mongo.MongoWriteConcernError)) return 0;
  return (error.result as { nModified?: number }).nModified ?? 0;
}

/**
 * Whether a read may succeed when it is repeated: a connection failed, another server is primary, or the read was cut
 * off.
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof mongo.MongoServerError)
    return NO_PRIMARY.has(Number(error.code)) || CUT_OFF.has(Number(error.code));
  return error instanceof mongo.MongoNetworkError;
}

/** Mongoose refuses calls before the first connection, because command buffering is disabled. */
function isBeforeConnection(error: unknown): boolean {
  if (error instanceof NotConnectedError) return true;
  return error instanceof mongoose.MongooseError && error.message.includes('initial connection');
}

/** The options of a write: none, or to bypass the validator of its collection. */
export type PastValidator = { bypassDocumentValidation?: true };

/** The update of one document, by its `_id`. */
export interface SingleWrite {
  updateOne: { filter: mongoose.mongo.Document; update: mongoose.mongo.Document | mongoose.mongo.Document[] };
}

/** The result of single writes. */
interface Written {
  modified: number;
  /** The refused writes, in their original order. */
  refused: Refusal[];
}

const ASKED: PastValidator = {};
const BYPASSED: PastValidator = { bypassDocumentValidation: true };

/**
 * Executes a write of the service's own: a stamp or a repair. If the validator of the collection refuses it, the
 * write is repeated once with the validator bypassed. If the role lacks the right to bypass it, throws the refusal.
 */
export async function pastValidator<T>(write: (options: PastValidator) => Promise<T>): Promise<T> {
  try {
    return await write(ASKED);
  } catch (refusal) {
    if (!isRefusedByValidator(refusal)) throw refusal;
    return write(BYPASSED).catch((error: unknown) => {
      throw isUnauthorized(error) ? refusal : error;
    });
  }
}

/**
 * Executes the writes in any order. Those that the validator refuses are repeated with the validator bypassed. Returns
 * the number of modified documents, and the writes that were refused in the end.
 */
export async function writeEach(
  collection: mongoose.mongo.Collection,
  writes: SingleWrite[],
  bounds: { maxTimeMS?: number } = {},
): Promise<Written> {
  if (writes.length === 0) return { modified: 0, refused: [] };
  const first = await attempt(collection, writes, { ...ASKED, ...bounds });
  const again = first.refused.filter(({ isOfValidator }) => isOfValidator);
  if (again.length === 0) return first;
  const some = again.map(({ index }) => writes[index]!);
  const second = await attempt(collection, some, { ...BYPASSED, ...bounds }).catch((error: unknown) => {
    if (isUnauthorized(error)) return undefined;
    throw error;
  });
  if (second === undefined) return first;
  const others = first.refused.filter(({ isOfValidator }) => !isOfValidator);
  const still = second.refused.map((refusal) => ({ ...refusal, index: again[refusal.index]!.index }));
  const refused = [...others, ...still].sort((one, other) => one.index - other.index);
  return { modified: first.modified + second.modified, refused };
}

async function attempt(
  collection: mongoose.mongo.Collection,
  writes: SingleWrite[],
  options: PastValidator & { maxTimeMS?: number },
): Promise<Written> {
  try {
    const { modifiedCount } = await collection.bulkWrite(writes, { ordered: false, ...options });
    return { modified: modifiedCount, refused: [] };
  } catch (error) {
    const refused = refusalsIn(error);
    return { modified: (error as mongoose.mongo.MongoBulkWriteError).result.modifiedCount, refused };
  }
}

/**
 * Whether a read failed because its moment is no longer readable: it is too old, or the collection or an index was
 * created, dropped or renamed since.
 */
export function isMomentGone(error: unknown): boolean {
  if (isIndexMissing(error)) return true;
  return error instanceof mongo.MongoServerError && GONE.has(Number(error.code));
}

/** Whether a transaction was repeated until its time was over, and was rolled back each time. */
export function isTransactionTooLate(error: mongoose.mongo.MongoServerError): boolean {
  return error.hasErrorLabel(TOO_LATE);
}
