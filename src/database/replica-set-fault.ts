import mongoose, { type mongo } from 'mongoose';
import { FatalError, shown, visible } from '../common/index.js';
import { APP_NAME } from './options.js';

const { MongoClient } = mongoose.mongo;

/** A server that has not said by then what it is says nothing (milliseconds). */
const LONGEST_MS = 3000;
/** A replica set has no more. DNS may name any number, and a client is made for each. */
const MOST_MEMBERS = 50;
/** What of a connection string a server has to be asked with. It says without a login what it is. */
const ABOUT_TLS = /^(tls|ssl)/i;

export const STANDALONE =
  'This MongoDB is a stand-alone server. Change streams need a replica set (one node is enough): ' +
  'start mongod with --replSet and run rs.initiate() once, or leave MONGODB_URI empty for the embedded one.';

/**
 * A FatalError where no server was chosen since those that answer are not of the replica set that the connection string names:
 * the driver leaves them out and says no more than that it chose none. Else the error itself.
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

function isUnchosen(error: unknown): boolean {
  return (
    error instanceof mongoose.mongo.MongoServerSelectionError ||
    error instanceof mongoose.Error.MongooseServerSelectionError
  );
}

/** The client has its hosts, and perhaps the name of the set, from DNS where the connection string names none. */
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
    return `The server at ${host} is a mongos, of no replica set. Remove replicaSet=${said(wanted)} from ${where}.`;
  }
  const name = hello['setName'] as string | undefined;
  if (name === undefined) return STANDALONE;
  const right = `replicaSet=${encodeURIComponent(name)}`;
  const told = isInUri
    ? `MONGODB_URI names "${said(wanted)}". Write ${right} there.`
    : `the TXT record of its name in DNS says "${said(wanted)}". Write ${right} into MONGODB_URI.`;
  return `The server at ${host} belongs to the replica set "${said(name)}", and ${told}`;
}

/** What DNS or a server says, on one line. */
function said(text: string): string {
  return visible(shown(text));
}

/** One that waits for `rs.initiate()` has no name yet. */
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
