import mongoose from 'mongoose';

/** The driver's errors about a connection string, and how to report each without quoting the string. */
const FAULTS: [said: RegExp, fault: string][] = [
  [/^Invalid scheme/, 'it does not begin with mongodb:// or mongodb+srv://'],
  [/host list are required/, 'it names no host'],
  [/srv URI cannot have port/, 'with mongodb+srv:// it names a host without a port'],
  [
    /unescaped characters|^Invalid connection string|^URI malformed/,
    'a user name or password must have @ : / ? # [ ] and % percent-encoded, such as %40 for @',
  ],
  [/^Unable to parse .+ with URL/, 'a host or its port cannot be read: a port is a number up to 65535'],
  [/ is not supported$/, 'it has an option that the driver does not know'],
  [/cannot be specified with no value/, 'one of its options has no value'],
  [/cannot appear more than once/, 'it names one of its options twice'],
];
const OPTION = /option "?([A-Za-z]{1,40})"? (?:is not|cannot be|cannot appear)/;
const NO_NAME = 'MongoDB takes no such name for a database: up to 63 characters, no blank, dot, / or $';

/**
 * Why the driver or MongoDB rejects a connection string, without secrets; undefined if it is valid. Opens no
 * connection.
 */
export function connectionStringFault(text: string): string | undefined {
  try {
    new mongoose.mongo.MongoClient(text);
  } catch (error) {
    return faultIn(text, (error as Error).message);
  }
  const database = databaseIn(text);
  return database === '' || isDatabaseName(database) ? undefined : NO_NAME;
}

/** The database name in a valid connection string; empty if there is none. */
export function databaseIn(uri: string): string {
  return decodeURIComponent(/^[^:]+:\/\/[^/?]+\/([^?]*)/.exec(uri)?.[1] ?? '');
}

function isDatabaseName(name: string): boolean {
  return /^[^/\\. "$*<>:|?\0]{1,63}$/.test(name);
}

/** Omits the option's name if an `@` follows a `?`: the supposed option may then be part of a password. */
function faultIn(text: string, said: string): string {
  const [, option] = OPTION.exec(said) ?? [];
  const [, fault = 'one of its options has a value that the driver does not take'] =
    FAULTS.find(([pattern]) => pattern.test(said)) ?? [];
  return option === undefined || /\?.*@/s.test(text) ? fault : `${fault}: ${option}`;
}
