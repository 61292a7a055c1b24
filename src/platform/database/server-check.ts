import mongoose, { type mongo } from 'mongoose';
import { FatalError, shown, visible } from '../common/index.js';
import type { AnyModel } from './listed-indexes.js';
import { APP_NAME } from './options.js';

const { MongoClient, MongoServerError } = mongoose.mongo;

const OLDEST_MAJOR = 5;

/** Time limit for a server to identify itself; after that it counts as silent (milliseconds). */
const LONGEST_MS = 3000;
/** The maximum size of a replica set. DNS may name any number of hosts, and each gets a client. */
const MOST_MEMBERS = 50;
/**
 * The options of a connection string that are needed to ask a server for its replica set, which needs no login.
 */
const ABOUT_TLS = /^(tls|ssl)/i;

const STANDALONE =
  'This MongoDB is a stand-alone server. Change streams need a replica set (one node is enough): ' +
  'start mongod with --replSet and run rs.initiate() once, or leave MONGODB_URI empty for the embedded one.';

const UNINITIATED =
  'This MongoDB is a member of a replica set that is not initiated, or that it no longer belongs to: ' +
  'run rs.initiate() once, or correct MONGODB_URI.';

/** No server has answered yet. */
export const SILENT = 'no response was received';
/** Servers answer, but none of them accepts writes. */
export const NO_PRIMARY = 'no primary was found';

const NOT_LOOKED_UP = 'that name cannot be looked up';

const UNKNOWN_AUTHORITY =
  'its certificate is not signed by an authority that this machine trusts: name the certificate of its authority in ' +
  'MONGODB_URI, such as tlsCAFile=/etc/tidemark/ca.pem';

const CLOSES = 'it closes the connection without an answer: if it requires TLS, add tls=true to MONGODB_URI';

/** The texts that name a missing setting, which the driver's own messages do not. */
const ABOUT_SETTINGS = new Set([UNKNOWN_AUTHORITY, CLOSES]);

/** The error codes of the operating system for unreachable servers, and of OpenSSL for their certificates, in words. */
const WORDS: Record<string, string> = {
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  ECONNREFUSED: 'the connection is refused',
  ECONNRESET: 'it resets the connection',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  ENOTFOUND: 'that name is not known',
  EAI_AGAIN: NOT_LOOKED_UP,
  ETIMEDOUT: SILENT,
};
const TIMEOUT = /timed out/i;
const CLOSED = /<monitor> to \S+ closed/i;

const UNAUTHORIZED = 13;
/** The codes of MongoDB and of Atlas. */
const LOGIN_REFUSED = new Set([18, 8000]);
const IS_X509 = /[?&]authMechanism=MONGODB-X509\b/i;

/** The message for a DNS query for SRV records without a result. */
const NO_RECORD =
  'DNS has no SRV record for it; if the host has none, write mongodb:// instead of mongodb+srv://';
const WITHOUT_RECORD = new Set(['ENODATA', 'ENOTFOUND']);

const HISTORY = 'minSnapshotHistoryWindowInSeconds';

/**
 * What an operator has to do if the server keeps no history for reads as of one moment, as a sentence without its final
 * period.
 */
export const NO_HISTORY =
  `This MongoDB keeps no history for reads as of one moment (${HISTORY} is 0): set it to 300, its default, with ` +
  `db.adminCommand({ setParameter: 1, ${HISTORY}: 300 })`;

/** Throws a FatalError for a server on which the service cannot work: a stand-alone one, or a version under 5.0. */
export async function checkServer(db: mongoose.mongo.Db): Promise<void> {
  const hello = await db.admin().command({ hello: 1 });
  if (hello.setName === undefined && hello.msg !== 'isdbgrid')
    throw new FatalError(hello.isreplicaset === true ? UNINITIATED : STANDALONE);
  const { version } = (await db.admin().buildInfo()) as { version: string };
  if (Number.parseInt(version, 10) < OLDEST_MAJOR) {
    throw new FatalError(`This MongoDB has version ${version}. Version 5.0 or later is needed.`);
  }
}

/**
 * A FatalError if no server was selected because the servers that answer are not of the replica set in the connection
 * string: the driver ignores them and reports only that it selected none. Otherwise the error itself.
 */
export async function wrongSetAtStart(
  error: unknown,
  client: mongo.MongoClient,
  uri: string,
): Promise<unknown> {
  if (!isUnchosen(error)) return error;
  const sentence = await replicaSetFault(client.options, uri).catch(() => undefined);
  return sentence === undefined ? error : new FatalError(sentence);
}

/** Why a server cannot be reached, in a few words. */
export function troubleOf(error: Error): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'querySrv' && WITHOUT_RECORD.has(String(code))) return NO_RECORD;
  if (syscall?.startsWith('query') === true) return NOT_LOOKED_UP;
  const words = typeof code === 'string' ? WORDS[code] : undefined;
  if (words !== undefined) return words;
  if (error.cause instanceof Error) return troubleOf(error.cause);
  if (CLOSED.test(error.message)) return CLOSES;
  return TIMEOUT.test(error.message) ? SILENT : error.message;
}

/**
 * Like {@link troubleOf}, for an error that is reported once: the setting that is missing, if a server's error shows
 * it; otherwise the driver's message, which names the address. The driver keeps the error of each server in the error
 * of the selection.
 */
export function troubleOfCommand(
  error: Error & { reason?: { servers?: Map<string, { error?: Error | null }> } },
): string {
  const ofServers = [...(error.reason?.servers?.values() ?? [])].flatMap(({ error: own }) => own ?? []);
  return ofServers.map(troubleOf).find((words) => ABOUT_SETTINGS.has(words)) ?? error.message;
}

/** The hosts and ports of a connection string, and nothing else of it. */
export function hostsIn(uri: string): string {
  const { hosts, srvHost } = new MongoClient(uri).options;
  return srvHost ?? hosts.map(String).join(', ');
}

/**
 * A FatalError if the database answers, but refuses the login of the user in the connection string or a right that is
 * needed; otherwise the error itself.
 */
export function refusalAtStart(
  error: unknown,
  { uri, database }: { uri: string; database: string },
): unknown {
  const code = error instanceof MongoServerError ? Number(error.code) : undefined;
  if (code !== undefined && LOGIN_REFUSED.has(code) && IS_X509.test(uri))
    return new FatalError(
      `The database at ${hostsIn(uri)} refuses the client certificate: tlsCertificateKeyFile in MONGODB_URI must name one ` +
        'whose subject is a user of the database $external.',
    );
  if (code !== undefined && LOGIN_REFUSED.has(code))
    return new FatalError(
      `The database at ${hostsIn(uri)} refuses the user name or the password in MONGODB_URI. Correct them, ` +
        `or ${whereUserIsLookedUp(uri, database)}`,
    );
  if (code === UNAUTHORIZED)
    return new FatalError(
      `The user in MONGODB_URI, if any, lacks rights on the database at ${hostsIn(uri)}. It needs the role that ` +
        `docs/roles.js creates, or at least readWrite on the database ${database}. Put the user name and the ` +
        'password of such a user into MONGODB_URI. The command check names each missing action.',
    );
  return error;
}

/** A collection as the server lists it. */
interface Listed {
  name: string;
  type?: string;
  options?: { capped?: boolean; collation?: object };
}

/**
 * Why the service cannot keep its promises on this database, and what an operator has to do, in sentences without the
 * final period; undefined if it can. Throws if the database does not answer.
 */
export async function unfitness(db: mongoose.mongo.Db, models: AnyModel[]): Promise<string | undefined> {
  const names = models.map(({ collection }) => collection.collectionName);
  const found = await unfitCollection(db, names);
  if (found !== undefined)
    return `The collection ${found.name} ${found.flaw}. Put an ordinary collection with its documents in its place`;
  return (await historySeconds(db)) === 0 ? NO_HISTORY : undefined;
}

/** The first of these collections that exists but cannot be served, and why; undefined if there is none. */
export async function unfitCollection(
  db: mongoose.mongo.Db,
  names: string[],
): Promise<{ name: string; flaw: string } | undefined> {
  const listed = (await db.listCollections({ name: { $in: names } }).toArray()) as Listed[];
  const found = listed.map((one) => ({ name: one.name, flaw: flawOf(one) }));
  return found.find((one): one is { name: string; flaw: string } => one.flaw !== undefined);
}

function isUnchosen(error: unknown): boolean {
  return (
    error instanceof mongoose.mongo.MongoServerSelectionError ||
    error instanceof mongoose.Error.MongooseServerSelectionError
  );
}

/**
 * Why none of the servers that answer can belong to the replica set `wanted`, and what to do; undefined if one can, or
 * if none answers. The hosts, and the name of the set if the connection string has none, may come from DNS.
 */
async function replicaSetFault(
  { replicaSet: wanted, hosts, tls }: Pick<mongo.MongoOptions, 'replicaSet' | 'hosts' | 'tls'>,
  uri: string,
): Promise<string | undefined> {
  if (!wanted || hosts.length > MOST_MEMBERS) return undefined;
  const answers = await Promise.all(
    hosts.map(async (host) => ({ host: String(host), hello: await helloOf(String(host), { uri, tls }) })),
  );
  const heard = answers.flatMap(({ host, hello }) => (hello === undefined ? [] : [{ host, hello }]));
  if (heard[0] === undefined || heard.some(({ hello }) => mayBeOf(wanted, hello))) return undefined;
  const { host, hello } = heard[0];
  const isInUri = /[?&]replicaSet=/i.test(uri);
  if (hello['msg'] === 'isdbgrid') {
    const where = isInUri ? 'MONGODB_URI' : 'the TXT record of its name in DNS';
    const advice = `Remove replicaSet=${said(wanted)} from ${where}.`;
    return `The server at ${host} is a mongos, which belongs to no replica set. ${advice}`;
  }
  const name = hello['setName'] as string | undefined;
  if (name === undefined) return STANDALONE;
  const right = `replicaSet=${encodeURIComponent(name)}`;
  const remedy = isInUri
    ? `MONGODB_URI names "${said(wanted)}". Write ${right} there.`
    : `the TXT record of its name in DNS says "${said(wanted)}". Write ${right} into MONGODB_URI.`;
  return `The server at ${host} belongs to the replica set "${said(name)}", and ${remedy}`;
}

/** Text from DNS or a server, on one line. */
function said(text: string): string {
  return visible(shown(text));
}

/** A member that waits for `rs.initiate()` has no set name yet. */
function mayBeOf(wanted: string, hello: mongo.Document): boolean {
  return hello['setName'] === wanted || hello['isreplicaset'] === true;
}

async function helloOf(
  host: string,
  { uri, tls }: { uri: string; tls: boolean },
): Promise<mongo.Document | undefined> {
  const [, query = ''] = /\?([^@]*)$/.exec(uri) ?? [];
  const options = query.split('&').filter((option) => ABOUT_TLS.test(option));
  const client = new MongoClient(`mongodb://${host}/?${[...options, 'directConnection=true'].join('&')}`, {
    tls,
    appName: APP_NAME,
    connectTimeoutMS: LONGEST_MS,
    serverSelectionTimeoutMS: LONGEST_MS,
  });
  try {
    return await client.db('admin').command({ hello: 1 });
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}

/** The advice for the case that the user is looked up in the wrong database. */
function whereUserIsLookedUp(uri: string, database: string): string {
  return /[?&]authSource=/i.test(uri)
    ? 'set authSource to the database in which the user was created, such as authSource=admin.'
    : `add the database in which the user was created, such as authSource=admin: the default is ${database}.`;
}

function flawOf({ type, options = {} }: Listed): string | undefined {
  if (type === 'view') return 'is a view, whose changes MongoDB does not report';
  if (type === 'timeseries') return 'is a time series collection, whose changes MongoDB does not report';
  if (options.capped === true) return 'is capped: MongoDB removes its oldest documents without reporting it';
  if (options.collation !== undefined)
    return 'has a collation, by which different texts may be equal, such as "acme" and "ACME"';
  return undefined;
}

/** How long the server keeps history (seconds); undefined on a mongos, or if the user lacks the right to ask. */
async function historySeconds(db: mongoose.mongo.Db): Promise<unknown> {
  return db
    .admin()
    .command({ getParameter: 1, [HISTORY]: 1 })
    .then(
      (reply) => reply[HISTORY] as unknown,
      (error: unknown) => {
        if (error instanceof mongoose.mongo.MongoServerError) return undefined;
        throw error;
      },
    );
}
