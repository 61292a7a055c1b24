import { isIP } from 'node:net';
import mongoose from 'mongoose';

/** Networks that Express knows by name. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** Whether the driver can read a connection string with all of its options. Nothing is connected. */
export function isConnectionString(text: string): boolean {
  try {
    new mongoose.mongo.MongoClient(text);
    return true;
  } catch {
    return false;
  }
}

/** The name of the database in a connection string that the driver can read; empty where it names none. */
export function databaseIn(uri: string): string {
  return decodeURIComponent(/^[^:]+:\/\/[^/?]+\/([^?]*)/.exec(uri)?.[1] ?? '');
}

/** Whether MongoDB takes a name for a database. */
export function isDatabaseName(name: string): boolean {
  return /^[^/\\. "$*<>:|?\0]{1,63}$/.test(name);
}

/** What `trust proxy` of Express takes: a number of proxies, or names, addresses and networks with commas between. */
export function isProxies(text: string): boolean {
  return /^\d{1,2}$/.test(text) || text.split(',').every((one) => isNetwork(one.trim()));
}

function isNetwork(text: string): boolean {
  if (NAMED_NETWORKS.includes(text)) return true;
  const [address = '', bits, ...more] = text.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
  return more.length === 0 && most > 0 && prefix <= most;
}

/** Scheme, host and port as a browser sends them in `Origin`: without a path, and in lower case. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
