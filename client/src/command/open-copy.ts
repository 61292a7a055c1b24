import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CopyStore } from '../harvest/index.js';
import { messageIn } from '../http/connection-error.js';
import { CommandError, EXIT, usageError } from './exit-codes.js';

/** A way to keep a copy, and the package that it needs. */
interface CopyForm {
  matches: RegExp;
  driver?: string;
  isFile?: boolean;
  open(to: string, table: string): Promise<CopyStore>;
}

const FORMS: CopyForm[] = [
  {
    matches: /^mongodb(\+srv)?:\/\//,
    driver: 'mongodb',
    open: async (to, table) => (await import('../stores/mongodb.js')).MongodbStore.open(to, table),
  },
  {
    matches: /^postgres(ql)?:\/\//,
    driver: 'pg',
    open: async (to, table) => (await import('../stores/postgres.js')).PostgresStore.open(to, table),
  },
  {
    matches: /\.(sqlite3?|db)$/,
    driver: 'libsql',
    isFile: true,
    open: async (to, table) => (await import('../stores/sqlite.js')).SqliteStore.open(to, table),
  },
  {
    matches: /\.(ndjson|jsonl)$/,
    isFile: true,
    open: async (to) => (await import('../stores/ndjson/ndjson-store.js')).NdjsonStore.open(to),
  },
];

/** Opens what `--to` names, and makes it where it is not there. */
export async function openCopy(to: string, table: string): Promise<CopyStore> {
  const form = FORMS.find(({ matches }) => matches.test(to));
  if (form === undefined)
    throw usageError(
      `--to "${shownCopy(to)}" is no kind of copy. Give a file that ends in .sqlite or .ndjson, or mongodb://… or postgres://….`,
    );
  if (form.isFile === true && !existsSync(dirname(to)))
    throw new CommandError(
      EXIT.copy,
      `${to} cannot be opened: the folder ${dirname(to)} does not exist. Make it first.`,
    );
  try {
    return await form.open(to, table);
  } catch (error) {
    throw openingError(error, form, to);
  }
}

/** What `--to` names, without a password: of an address its scheme, host and database, and less where it is none. */
export function shownCopy(to: string): string {
  const scheme = /^[a-z+]+:\/\//i.exec(to)?.[0];
  if (scheme === undefined) return to;
  // A `?` before an `@` may stand in a password, and the `@` in one behind the `?`.
  if (/[?#].*@/s.test(to)) return `${scheme}…`;
  const place = to.slice(Math.max(to.lastIndexOf('@') + 1, scheme.length));
  return scheme + place.replace(/[?#].*$/s, '');
}

function openingError(error: unknown, { driver }: CopyForm, to: string): CommandError {
  const { message, code } = error as Error & { code?: string };
  if (driver !== undefined && /MODULE_NOT_FOUND/.test(code ?? '') && message.includes(`'${driver}'`))
    return new CommandError(
      EXIT.copy,
      `A copy in ${shownCopy(to)} needs the package ${driver}. Install it with: npm install ${driver}`,
    );
  return new CommandError(EXIT.copy, `${shownCopy(to)} cannot be opened: ${messageIn(error)}`, {
    cause: error,
  });
}
