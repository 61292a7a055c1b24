import mongoose from 'mongoose';
import { FatalError } from '../common/index.js';

const { mongo } = mongoose;

/** No server has answered yet. */
export const SILENT = 'nothing comes back';
/** Servers answer, and none of them takes writes. */
export const NO_PRIMARY = 'no primary was found';

const NOT_LOOKED_UP = 'that name cannot be looked up';

/** What the operating system says about a server that cannot be reached, in words. */
const WORDS: Record<string, string> = {
  ECONNREFUSED: 'the connection is refused',
  ECONNRESET: 'it breaks the connection off',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ENOTFOUND: 'that name is not known',
  EAI_AGAIN: NOT_LOOKED_UP,
  ETIMEDOUT: SILENT,
};
const TIMEOUT = /timed out|<monitor> to \S+ closed/i;

const UNAUTHORIZED = 13;
/** MongoDB's own, and that of Atlas. */
const LOGIN_REFUSED = new Set([18, 8000]);

/** What is said of a question to the DNS for SRV records that has none as its answer. */
const NO_RECORD = 'DNS has no SRV record for it; a host without one has mongodb:// before it';
const WITHOUT_RECORD = new Set(['ENODATA', 'ENOTFOUND']);

/** Why a server cannot be reached, in a few words. */
export function troubleOf(error: Error): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'querySrv' && WITHOUT_RECORD.has(String(code))) return NO_RECORD;
  if (syscall?.startsWith('query') === true) return NOT_LOOKED_UP;
  const words = typeof code === 'string' ? WORDS[code] : undefined;
  if (words !== undefined) return words;
  if (error.cause instanceof Error) return troubleOf(error.cause);
  return TIMEOUT.test(error.message) ? SILENT : error.message;
}

/** Where a connection string leads: hosts and ports, and nothing else of it. */
export function hostsIn(uri: string): string {
  const { hosts, srvHost } = new mongo.MongoClient(uri).options;
  return srvHost ?? hosts.map(String).join(', ');
}

/** What to write where it was the database in which the user is looked up that was wrong. */
function whereUserIsLookedUp(uri: string, database: string): string {
  return /[?&]authSource=/i.test(uri)
    ? 'name in authSource the database in which the user was made, such as authSource=admin.'
    : `add the database in which the user was made, such as authSource=admin: without it, that is ${database}.`;
}

/** A FatalError where the database answers and refuses whom the connection string names; else the error itself. */
export function refusalAtStart(
  error: unknown,
  { uri, database }: { uri: string; database: string },
): unknown {
  const code = error instanceof mongo.MongoServerError ? Number(error.code) : undefined;
  if (code !== undefined && LOGIN_REFUSED.has(code))
    return new FatalError(
      `The database at ${hostsIn(uri)} refuses the user name or the password in MONGODB_URI. Correct them, ` +
        `or ${whereUserIsLookedUp(uri, database)}`,
    );
  if (code === UNAUTHORIZED)
    return new FatalError(
      `The database at ${hostsIn(uri)} wants another user than MONGODB_URI names, if it names one: one with the role ` +
        `readWrite on the database ${database}. Put the user name and the password into it.`,
    );
  return error;
}
