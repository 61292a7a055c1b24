import type { Connection } from 'mongoose';
import { FatalError } from '../../platform/common/index.js';
import { WATCHER, type WatchState } from '../protocol/index.js';
import { LEASES } from './collections.schema.js';

/** Storage formats: the forms of the documents that the service stores for itself, numbered. */
export interface Formats {
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

/** The format of a database whose lease document was written before formats had numbers. */
const FIRST_FORMAT = 1;

/**
 * Why this version must not run on a database of the given format (docs/upgrading.md); undefined if it may. The sentence
 * says what an operator has to do.
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

/** The storage format of a database. A database without a lease document is new, and has the newest format. */
export async function readFormat(connection: Connection): Promise<number> {
  const leases = connection.collection<WatchState>(LEASES);
  const state = await leases.findOne({ _id: WATCHER }, { projection: { format: 1 } });
  if (state === null) return STORAGE_FORMATS.newest;
  return typeof state.format === 'number' ? state.format : FIRST_FORMAT;
}

/** Throws a FatalError if this version must not run on the database. */
export async function assertFormat(connection: Connection): Promise<void> {
  const fault = formatFault(await readFormat(connection));
  if (fault !== undefined) throw new FatalError(`${fault}.`);
}

/**
 * Finishes the upgrade to this version: from now on the newest storage format is in force, and versions that do not know
 * it refuse to run. Returns the format before. It cannot be undone.
 */
export async function finishUpgrade(connection: Connection): Promise<number> {
  const before = await readFormat(connection);
  const leases = connection.collection<WatchState>(LEASES);
  const { newest } = STORAGE_FORMATS;
  // Not $max: it keeps a text or a date, which MongoDB sorts after every number.
  await leases.updateOne({ _id: WATCHER, format: { $not: { $gte: newest } } }, { $set: { format: newest } });
  return before;
}
