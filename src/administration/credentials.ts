import { randomBytes } from 'node:crypto';
import type { mongo } from 'mongoose';
import { type Credential, CREDENTIALS, hashPassword, type Level, type Scope } from '../auth/plain.js';
import { exactly } from '../common/index.js';
import { isDuplicateKey } from '../database/plain.js';
import type { Deed } from '../trail/index.js';
import { type Desk, noteDeed } from './desk.js';
import { forgetUses } from './forget-uses.js';
import { LISTING } from './listed-services.js';
import { type Refused, taken, unknownCredential, usernameUnavailable } from './refused.js';
import { changeStored, readStored, type TaggedDocument } from './stored.js';

const RANDOM_BYTES = 24;

export interface NewCredential {
  username: string;
  level: Level;
  scopes: Scope[];
  expiresAt?: Date | undefined;
}

/** What of a credential can be changed, its password apart; null removes the end of its time. */
export interface CredentialChange {
  level?: Level | undefined;
  disabled?: boolean | undefined;
  expiresAt?: Date | null | undefined;
}

/** A credential as it is stored, without its hashes, which nothing here ever reads. Operators write this collection too. */
export type ListedCredential = {
  [field in Exclude<keyof Credential, 'passwordhash' | 'oldpasswordhash'>]?: unknown;
};

/** What of a credential is listed. */
export const LISTED = {
  ...{ _id: 0, username: 1, level: 1, scopes: 1 },
  ...{ disabled: 1, expiresAt: 1, oldexpiresAt: 1 },
} as const;

export function randomPassword(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Stores a new credential. An existing user name is an error, which says no more where the caller may not see that one. */
export async function issueCredential(
  desk: Desk,
  credential: NewCredential,
  password: string,
  maySee: MaySee = () => true,
): Promise<void> {
  const { username, level, scopes, expiresAt } = credential;
  const passwordhash = await hashPassword(password);
  await credentialsOf(desk.db)
    .insertOne({ username, passwordhash, level, scopes, ...(expiresAt !== undefined && { expiresAt }) })
    .catch(async (error: unknown) => {
      throw isDuplicateKey(error) ? await usernameTaken(desk.db, username, maySee) : error;
    });
  await forgetUses(desk.db, [username]);
  await noteCredential(desk, 'credential.issue', { username, scopes });
}

/** Whether the caller may see a stored credential. */
export type MaySee = (stored: ListedCredential) => boolean;

/** The refusal of a user name that a credential has. User names are unique over all organizations. */
export async function usernameTaken(db: mongo.Db, username: string, maySee: MaySee): Promise<Refused> {
  const stored = await credentialsOf(db).findOne<ListedCredential>(named(username), { projection: LISTED });
  if (stored === null || !maySee(stored)) return usernameUnavailable(username);
  const sentence = `There is a credential "${username}" already`;
  return taken(`${sentence}.`, `${sentence}; "credential rotate" gives it a new password.`);
}

/** Changes what a credential may do, and for how long. Throws 404 and 412. */
export async function changeCredential(
  desk: Desk,
  username: string,
  { level, disabled, expiresAt }: CredentialChange,
  ifMatch?: string,
): Promise<void> {
  const $set = {
    ...(level !== undefined && { level }),
    ...(disabled !== undefined && { disabled }),
    ...(expiresAt && { expiresAt }),
  };
  const $unset = expiresAt === null ? { expiresAt: '' } : {};
  const changed = [...Object.keys($set), ...Object.keys($unset)];
  if (changed.length === 0) return;
  const parts = Object.entries({ $set, $unset }).filter(([, part]) => Object.keys(part).length > 0);
  const { document } = await updateCredential(desk.db, username, Object.fromEntries(parts), ifMatch);
  await noteCredential(desk, 'credential.change', { ...document, username }, changed);
}

/** Removes a credential with its hash. Throws 404 and 412. */
export async function revokeCredential(desk: Desk, username: string, ifMatch?: string): Promise<void> {
  const credentials = credentialsOf(desk.db);
  const { document } = await changeStored(
    credentials,
    named(username),
    { ifMatch, unknown: () => unknownCredential(username) },
    async (isUnchanged) => (await credentials.deleteOne(isUnchanged)).deletedCount,
  );
  await noteCredential(desk, 'credential.revoke', { ...document, username });
}

/** Those with a scope of one of these organizations, or all of them. */
export function listCredentials(db: mongo.Db, organizationids?: string[]): Promise<ListedCredential[]> {
  const which = organizationids === undefined ? {} : { 'scopes.organizationid': { $in: organizationids } };
  return credentialsOf(db)
    .find<ListedCredential>(which, { ...LISTING, projection: LISTED, sort: { username: 1 } })
    .toArray();
}

/** One of them, with its entity tag. Its document has the hash, which must not leave the service. Throws 404. */
export async function readCredential(db: mongo.Db, username: string): Promise<TaggedDocument> {
  const stored = await readStored(credentialsOf(db), named(username));
  if (stored === undefined) throw unknownCredential(username);
  return stored;
}

export async function credentialExists(db: mongo.Db, username: string): Promise<boolean> {
  return (await credentialsOf(db).findOne(named(username), { projection: { _id: 1 } })) !== null;
}

/** Changes a credential. Throws 404 and 412. */
export function updateCredential(
  db: mongo.Db,
  username: string,
  change:
    | mongo.UpdateFilter<mongo.Document>
    | ((stored: mongo.Document) => mongo.UpdateFilter<mongo.Document>),
  ifMatch?: string,
): Promise<TaggedDocument> {
  const credentials = credentialsOf(db);
  const unknown = () => unknownCredential(username);
  return changeStored(
    credentials,
    named(username),
    { ifMatch, unknown },
    async (isUnchanged, { document }) => {
      const made = typeof change === 'function' ? change(document) : change;
      return (await credentials.updateOne(isUnchanged, made)).matchedCount;
    },
  );
}

export async function noteCredential(
  desk: Desk,
  action: CredentialAction,
  credential: { username: string; scopes?: unknown },
  changed?: string[],
): Promise<void> {
  await noteDeed(desk, credentialDeed(action, credential, changed));
}

type CredentialAction = `credential.${'issue' | 'change' | 'rotate' | 'retire' | 'revoke'}`;

/** A credential of one organization stands in the trail of that one. */
export function credentialDeed(
  action: CredentialAction,
  { username, scopes }: { username: string; scopes?: unknown },
  changed?: string[],
): Deed {
  const [first, ...others] = Array.isArray(scopes) ? (scopes as (Partial<Scope> | null)[]) : [];
  const organizationid = first?.organizationid;
  const isOfOne = others.every((scope) => scope?.organizationid === organizationid);
  return {
    action,
    ...(isOfOne && typeof organizationid === 'string' && { organizationid }),
    target: `credential ${username}`,
    ...(changed && { changed }),
  };
}

/** Finds the credential of a user name. */
export function named(username: string): mongo.Document {
  return { username: exactly(username) };
}

function credentialsOf(db: mongo.Db): mongo.Collection {
  return db.collection(CREDENTIALS);
}
