import type { Connection } from 'mongoose';
import { FatalError } from '../../platform/common/index.js';
import { isDuplicateKey } from '../../platform/database/plain.js';
import { WATCHER } from '../protocol/index.js';
import { LEASES, STORAGE_FORMAT } from './collections.schema.js';

/** Storage formats: the forms of the documents that the service stores for itself, numbered. */
interface Formats {
  /** The oldest format that this version can read and write. */
  oldest: number;
  /** The format that this version writes once an operator has finished the upgrade to it. */
  newest: number;
}

/**
 * The storage formats of this version. Add 1 to `newest` when a stored form changes so that the previous version could
 * not read it, and write the new form only at that format; `oldest` then follows one release later.
 */
export const STORAGE_FORMATS: Formats = { oldest: 1, newest: 1 };

/** The format of a document that was written before formats had numbers, or that another program has damaged. */
const FIRST_FORMAT = 1;

/** Lets operators and tests tell these reads from others of the lease document. */
const COMMENT = 'tidemark format';

/** A document that holds the storage format. */
interface FormatDocument {
  _id: typeof WATCHER;
  format?: unknown;
}

/**
 * Why this version must not run on a database of the given format (docs/upgrading.md), and what an operator has to do,
 * in sentences without the final period; undefined if it may run.
 */
export function formatFault(stored: number, known: Formats = STORAGE_FORMATS): string | undefined {
  if (stored > known.newest)
    return (
      `The database has storage format ${stored}, and this version knows formats up to ${known.newest}: ` +
      'an upgrade to a newer version was finished. Start that version, or a newer one'
    );
  if (stored < known.oldest)
    return (
      `The database has storage format ${stored}, and this version needs ${known.oldest} or newer. ` +
      'Start the version before this one, and finish the upgrade to it with: admin upgrade finish'
    );
  return undefined;
}

/**
 * The storage format of a database. It is in the lease document and in a collection of its own, so that it outlives the loss
 * of either; the greater one is in force. A database with neither is new, and has the newest format.
 */
export async function readFormat(connection: Connection): Promise<number> {
  return inForce(await readBoth(connection));
}

/** Throws a FatalError if this version must not run on the database. */
export async function assertFormat(connection: Connection): Promise<void> {
  assertKnown(await readBoth(connection));
}

/**
 * Like {@link assertFormat}; then stores the format in force where it is missing or lower. It does not create the lease
 * document; only {@link createLease} does.
 */
export async function keepFormat(connection: Connection): Promise<void> {
  const stored = await readBoth(connection);
  assertKnown(stored);
  const { copy = 0, lease } = stored;
  const format = Math.max(copy, lease ?? 0);
  if (copy < format) await raiseFormat(connection, STORAGE_FORMAT, format);
  if (lease !== undefined && lease < format) await raiseFormat(connection, LEASES, format);
}

/**
 * Makes the lease document, with the format in force. The other copy of the format comes first: no instance leads before it
 * is there. Of two versions that start on a new database, the format of the first one counts.
 */
export async function createLease(connection: Connection): Promise<void> {
  const copies = connection.collection<FormatDocument>(STORAGE_FORMAT);
  const format = STORAGE_FORMATS.newest;
  const { copy, lease } = await readBoth(connection);
  if (copy === undefined && lease === undefined)
    await unlessThere(copies.updateOne({ _id: WATCHER }, { $setOnInsert: { format } }, { upsert: true }));
  await raiseFormat(connection, LEASES, await readFormat(connection));
}

/**
 * Finishes the upgrade to this version: from now on the newest storage format is in force, and versions that do not know
 * it refuse to run. Returns the format before. It cannot be undone.
 */
export async function finishUpgrade(connection: Connection): Promise<number> {
  const before = await readFormat(connection);
  await raiseFormat(connection, STORAGE_FORMAT, STORAGE_FORMATS.newest);
  await raiseFormat(connection, LEASES, STORAGE_FORMATS.newest);
  return before;
}

/** The format in the collection of its own, and that in the lease document. */
interface StoredFormats {
  copy?: number;
  lease?: number;
}

function inForce({ copy = 0, lease = 0 }: StoredFormats): number {
  return Math.max(copy, lease) || STORAGE_FORMATS.newest;
}

function assertKnown(stored: StoredFormats): void {
  const fault = formatFault(inForce(stored));
  if (fault !== undefined) throw new FatalError(`${fault}.`);
}

async function readBoth(connection: Connection): Promise<StoredFormats> {
  const [copy, lease] = await Promise.all([
    formatIn(connection, STORAGE_FORMAT),
    formatIn(connection, LEASES),
  ]);
  return { ...(copy !== undefined && { copy }), ...(lease !== undefined && { lease }) };
}

async function formatIn(connection: Connection, name: string): Promise<number | undefined> {
  const documents = connection.collection<FormatDocument>(name);
  const options = { projection: { format: 1 }, comment: COMMENT };
  const found = await documents.findOne({ _id: WATCHER }, options);
  if (found === null) return undefined;
  return typeof found.format === 'number' ? found.format : FIRST_FORMAT;
}

/** Raises the format in the document of a collection, and makes the document if there is none. */
async function raiseFormat(connection: Connection, name: string, format: number): Promise<void> {
  const documents = connection.collection<FormatDocument>(name);
  const free = name === LEASES ? { holder: '', term: 0, expires: new Date(0) } : {};
  // Not $max: it keeps a text or a date, which MongoDB sorts after every number.
  const lower = { _id: WATCHER, format: { $not: { $gte: format } } } as const;
  await unlessThere(documents.updateOne(lower, { $set: { format }, $setOnInsert: free }, { upsert: true }));
}

/** The upsert fails if the document has this format or a newer one already, because its query excludes such a document. */
async function unlessThere(upsert: Promise<unknown>): Promise<void> {
  await upsert.catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}
