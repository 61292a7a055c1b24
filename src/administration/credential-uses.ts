import mongoose, { type mongo } from 'mongoose';
import { CREDENTIAL_USES, CREDENTIALS, type CredentialUse } from '../auth/plain.js';
import { LISTED, type ListedCredential } from './credentials.js';
import { LISTING } from './listed-services.js';

const DAY_MS = 86_400_000;
const { ObjectId } = mongoose.mongo;

/** When a credential was last let in, as far as that is known; to the minute. */
export interface LastUse {
  lastUsed: Date | null;
  lastUsedFrom: string | null;
}

/** The last uses of some credentials, by user name. */
export async function lastUses(db: mongo.Db, usernames: unknown[]): Promise<(username: unknown) => LastUse> {
  const _id = { $in: namesIn(usernames) };
  const uses = await db.collection<CredentialUse>(CREDENTIAL_USES).find({ _id }, LISTING).toArray();
  const known = new Map(uses.map((use) => [use._id, use]));
  return (username) => {
    const use = known.get(String(username));
    return { lastUsed: use?.at ?? null, lastUsedFrom: use?.from ?? null };
  };
}

/** The empty name is that of the document that says since when uses are noted. */
function namesIn(usernames: unknown[]): string[] {
  return usernames.filter((name): name is string => typeof name === 'string' && name !== '');
}

/** The credentials that nobody used for a while, and since when uses are noted; undefined: nobody has used any yet. */
export interface Unused {
  since: Date | undefined;
  credentials: ListedCredential[];
}

/**
 * The credentials that nobody used for so many days. One that was made in these days is not among them, and none is while
 * uses have been noted for fewer days: nobody can tell then.
 */
export async function unusedCredentials(
  db: mongo.Db,
  days: number,
  organizationids?: string[],
): Promise<Unused> {
  const before = new Date(Date.now() - days * DAY_MS);
  const uses = db.collection<CredentialUse>(CREDENTIAL_USES);
  const since = (await uses.findOne({ _id: '' }))?.at;
  if (since === undefined || since > before) return { since, credentials: [] };
  const which = organizationids === undefined ? {} : { 'scopes.organizationid': { $in: organizationids } };
  const projection = { ...LISTED, _id: 1 } as const;
  const all = await db
    .collection(CREDENTIALS)
    .find(which, { ...LISTING, projection, sort: { username: 1 } })
    .toArray();
  const named = { _id: { $in: namesIn(all.map(({ username }) => username as unknown)) } };
  const recent = uses.find({ ...named, at: { $gt: before } }, { ...LISTING, projection: { _id: 1 } });
  const recently = new Set((await recent.toArray()).map(({ _id }) => _id));
  const unused = all.filter(({ _id, username }) => !recently.has(String(username)) && madeAt(_id) < before);
  return { since, credentials: unused.map(({ _id, ...credential }) => credential) };
}

/** An ObjectId says when it was made. What else an operator may have written there is taken as old. */
function madeAt(_id: unknown): Date {
  return _id instanceof ObjectId ? _id.getTimestamp() : new Date(0);
}
