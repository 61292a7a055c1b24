import { createSecureContext, type SecureContextOptions } from 'node:tls';
import mongoose from 'mongoose';
import { contentOf, type SettingFile, wrongFile, assertAuthorities, openSslReason } from './files.js';

/** Maximum size of a file with certificates (bytes). A bundle of all public authorities has 200 KB. */
const LARGEST_FILE = 1024 * 1024;

/** The driver's errors about a connection string, and how to report each without quoting the string. */
const FAULTS: [said: RegExp, fault: string][] = [
  [/^Invalid scheme/, 'it does not begin with mongodb:// or mongodb+srv://'],
  [/host list are required/, 'it names no host'],
  [/srv URI cannot have port/, 'it names a port, which mongodb+srv:// does not allow'],
  [
    /unescaped characters|^Invalid connection string|^URI malformed/,
    'a user name or password must have @ : / ? # [ ] and % percent-encoded, such as %40 for @',
  ],
  [/^Unable to parse .+ with URL/, 'a host or its port cannot be read: a port is a number up to 65535'],
  [/ is not supported$/, 'it has an option that the driver does not know'],
  [/cannot be specified with no value/, 'one of its options has no value'],
  [/cannot appear more than once/, 'it names one of its options twice'],
  [/^Primary read preference/, 'the service reads from the primary alone, without maxStalenessSeconds'],
];
/** The service sets `w` itself, but the driver would send this option beside it. */
const NO_JOURNAL = 'with journal=false, a crash could undo writes that are confirmed';
const OPTION = /option "?([A-Za-z]{1,40})"? (?:is not|cannot be|cannot appear)/;
const NO_NAME =
  'the name of its database has more than 63 characters, or contains a blank or one of . / \\ " $ * < > : | ?';

/**
 * Why the driver or MongoDB rejects a connection string, without secrets; undefined if it is valid. Opens no
 * connection.
 */
export function connectionStringFault(text: string): string | undefined {
  let journal: boolean | undefined;
  try {
    // The service reads from the primary, whatever the text says; the driver refuses some options together with that.
    const { options } = new mongoose.mongo.MongoClient(text, { readPreference: 'primary' });
    journal = options.writeConcern?.journal;
  } catch (error) {
    return faultIn(text, (error as Error).message);
  }
  if (journal === false) return NO_JOURNAL;
  const database = databaseIn(text);
  return database === '' || isDatabaseName(database) ? undefined : NO_NAME;
}

/**
 * Throws a ConfigError if a valid connection string demands TLS and one of the files in its options cannot be used.
 * Without this check, the driver would read the files only when it connects, and report a database that does not
 * answer.
 */
export function assertTlsFiles(uri: string, setting: string): void {
  const { tls, tlsCAFile, tlsCRLFile, tlsCertificateKeyFile, passphrase } = new mongoose.mongo.MongoClient(
    uri,
  ).options;
  if (!tls) return;
  const named = (option: string, path: string, content: string) => ({
    name: `${option} in ${setting}`,
    path,
    right: `the path of a PEM file with ${content}`,
  });
  if (tlsCAFile !== undefined) {
    const file = named(
      'tlsCAFile',
      tlsCAFile,
      'the certificates of those who sign the certificate of the database',
    );
    assertAuthorities(file, contentOf(file, LARGEST_FILE));
  }
  if (tlsCRLFile !== undefined) {
    const file = named('tlsCRLFile', tlsCRLFile, 'the revoked certificates');
    const crl = contentOf(file, LARGEST_FILE);
    assertUsable(file, 'holds no list of revoked certificates in PEM form', { crl });
  }
  if (tlsCertificateKeyFile !== undefined) {
    const file = named(
      'tlsCertificateKeyFile',
      tlsCertificateKeyFile,
      'a client certificate and its private key',
    );
    const both = contentOf(file, LARGEST_FILE);
    const fault =
      'holds no certificate with its private key in PEM form, or needs another tlsCertificateKeyFilePassword';
    assertUsable(file, fault, { cert: both, key: both, ...(passphrase !== undefined && { passphrase }) });
  }
}

function assertUsable(file: SettingFile, fault: string, options: SecureContextOptions): void {
  try {
    createSecureContext(options);
  } catch (error) {
    throw wrongFile(file, `${fault} (${openSslReason(error)})`);
  }
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
  const [, fault = 'one of its options has a value that the driver does not accept'] =
    FAULTS.find(([pattern]) => pattern.test(said)) ?? [];
  return option === undefined || /\?.*@/s.test(text) ? fault : `${fault}: ${option}`;
}
