import mongoose, { type mongo } from 'mongoose';
import { CREDENTIAL_USES, CREDENTIALS, type CredentialUse } from '../auth/plain.js';
import { textOf } from '../platform/common/index.js';
import { LISTED, type ListedCredential } from './credentials.js';
import { LISTING, readAll } from './listed-services.js';

const DAY_MS = 86_400_000;
const { ObjectId } = mongoose.mongo;

/** The last successful use of a credential, to the minute; null if it is unknown. */
export interface LastUse {
  lastUsed: Date | null;
  lastUsedFrom: string | null;
}

/** Looks up the last uses of credentials by user name. */
export async function lastUses(db: mongo.Db, usernames: unknown[]): Promise<(username: unknown) => LastUse> {
  const _id = { $in: namesIn(usernames) };
  const uses = await db.collection<CredentialUse>(CREDENTIAL_USES).find({ _id }, LISTING).toArray();
  const known = new Map(uses.map((use) => [use._id, use]));
  return (username) => {
    const use = known.get(textOf(username));
    return { lastUsed: use?.at ?? null, lastUsedFrom: use?.from ?? null };
  };
}

/** Excludes the empty name: its document contains the time since which uses have been recorded. */
function namesIn(usernames: unknown[]): string[] {
  return usernames.filter((name): name is string => typeof name === 'string' && name !== '');
}

/**
 * Credentials that were not used recently. `since`: when the recording of uses began; undefined if none was recorded
 * yet.
 */
export interface Unused {
  since: Date | undefined;
  credentials: ListedCredential[];
}

/**
 * Lists the credentials without a use in the last `days` days. Credentials created within these days are excluded. The
 * list is empty if uses have been recorded for fewer days, because it is not known then which credentials were unused.
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
  const all = await readAll(
    db.collection(CREDENTIALS).find(which, { ...LISTING, projection, sort: { username: 1 }, raw: true }),
  );
  const named = { _id: { $in: namesIn(all.map(({ username }) => username as unknown)) } };
  const recent = uses.find({ ...named, at: { $gt: before } }, { ...LISTING, projection: { _id: 1 } });
  const recently = new Set((await recent.toArray()).map(({ _id }) => _id));
  const unused = all.filter(({ _id, username }) => !recently.has(textOf(username)) && madeAt(_id) < before);
  return { since, credentials: unused.map(({ _id, ...credential }) => credential) };
}

/** An ObjectId contains its creation time. Any other `_id`, which an operator may have written, counts as old. */
function madeAt(_id: unknown): Date {
  return _id instanceof ObjectId ? _id.getTimestamp() : new Date(0);
}
