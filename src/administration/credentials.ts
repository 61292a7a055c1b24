import { randomBytes } from 'node:crypto';
import type { mongo } from 'mongoose';
import {
  type Credential,
  CREDENTIAL_USES,
  CREDENTIALS,
  type CredentialUse,
  hashPassword,
  type Level,
  type Scope,
} from '../auth/plain.js';
import { exactly } from '../platform/common/index.js';
import { isDuplicateKey } from '../platform/database/plain.js';
import type { AuditedAction } from '../trail/index.js';
import {
  changeStored,
  type ChangeContext,
  isPast,
  recordAction,
  readStored,
  type Refused,
  type TaggedDocument,
  taken,
  unknownCredential,
  usernameUnavailable,
} from './changes.js';
import { LISTING } from './listed-services.js';

const RANDOM_BYTES = 24;
const LONGEST_USERNAME = 128;
/** Basic authentication ends the user name at the first colon, and excludes control characters (RFC 7617). */
const SENDABLE = /^[^:\p{Cc}]{1,128}$/u;
/** Characters that are invisible, or that change how the surrounding text is displayed. */
const INVISIBLE = /[\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/**
 * Spaces that are invisible or look like a single ordinary one: leading, trailing and double spaces, and any space
 * character other than U+0020.
 */
const ODD_SPACE = /^ | $| {2}|(?! )\p{Zs}/u;
/** User names that cannot be part of a URL path, because clients resolve them as relative segments. */
const PATH_STEPS = ['.', '..'];
const USERNAME_RULE =
  `is not valid: 1 to ${LONGEST_USERNAME} visible characters such as "harvester", with no colon, ` +
  'no spaces but single ones between words, accented letters as one character (NFC), and not "." or "..".';

interface NewCredential {
  username: string;
  level: Level;
  scopes: Scope[];
  expiresAt?: Date | undefined;
}

/** The properties of a credential that can be changed, except its password; null removes the expiry. */
interface CredentialChange {
  level?: Level | undefined;
  disabled?: boolean | undefined;
  expiresAt?: Date | null | undefined;
}

/** A stored credential without its password hashes. Its values are unknown, because operators write this collection too. */
export type ListedCredential = {
  [field in Exclude<keyof Credential, 'passwordhash' | 'oldpasswordhash'>]?: unknown;
};

interface Rotation {
  /** Until when the previous password stays valid. By default, it becomes invalid at once. */
  keepOldUntil?: Date | undefined;
  ifMatch?: string | undefined;
}

/** The fields of a credential that are listed. */
export const LISTED = {
  ...{ _id: 0, username: 1, level: 1, scopes: 1 },
  ...{ disabled: 1, expiresAt: 1, oldexpiresAt: 1 },
} as const;

export function randomPassword(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

/**
 * Stores a new credential. Throws 409 if the user name exists; the error gives no reason if the caller may not see the
 * existing credential.
 */
export async function issueCredential(
  changeContext: ChangeContext,
  credential: NewCredential,
  password: string,
  maySee: MaySee = () => true,
): Promise<void> {
  const { username, level, scopes, expiresAt } = credential;
  const passwordhash = await hashPassword(password);
  await credentialsOf(changeContext.db)
    .insertOne({ username, passwordhash, level, scopes, ...(expiresAt !== undefined && { expiresAt }) })
    .catch(async (error: unknown) => {
      throw isDuplicateKey(error) ? await usernameTaken(changeContext.db, username, maySee) : error;
    });
  // The credential is stored, so its password must reach the caller.
  await forgetUses(changeContext.db, [username]).catch(() => undefined);
  await noteCredential(changeContext, 'credential.issue', { username, scopes });
}

/** Whether the caller may see a stored credential. */
type MaySee = (stored: ListedCredential) => boolean;

/** The 409 for a user name that is in use. User names are unique across all organizations. */
export async function usernameTaken(db: mongo.Db, username: string, maySee: MaySee): Promise<Refused> {
  const stored = await credentialsOf(db).findOne<ListedCredential>(named(username), { projection: LISTED });
  if (stored === null || !maySee(stored)) return usernameUnavailable(username);
  const sentence = `There is a credential "${username}" already`;
  return taken(`${sentence}.`, `${sentence}; "credential rotate" gives it a new password.`);
}

/**
 * Sets a new password. The previous one stays valid until `keepOldUntil`; older ones become invalid. Throws 400, 404 and
 * 412.
 */
export async function rotateCredential(
  changeContext: ChangeContext,
  username: string,
  password: string,
  { keepOldUntil, ifMatch }: Rotation = {},
): Promise<void> {
  if (keepOldUntil !== undefined && keepOldUntil <= new Date()) throw isPast('keepOldUntil');
  const passwordhash = await hashPassword(password);
  const { document } = await updateCredential(
    changeContext.db,
    username,
    ({ passwordhash: oldpasswordhash }) =>
      keepOldUntil === undefined
        ? { $set: { passwordhash }, $unset: { oldpasswordhash: '', oldexpiresAt: '' } }
        : { $set: { passwordhash, oldpasswordhash, oldexpiresAt: keepOldUntil } },
    ifMatch,
  );
  await noteCredential(changeContext, 'credential.rotate', { ...document, username });
}

/** Invalidates the previous password. Returns whether there was one. Throws 404 and 412. */
export async function retireOldPassword(
  changeContext: ChangeContext,
  username: string,
  ifMatch?: string,
): Promise<boolean> {
  const retired = { $unset: { oldpasswordhash: '', oldexpiresAt: '' } };
  const { document } = await updateCredential(changeContext.db, username, retired, ifMatch);
  await noteCredential(changeContext, 'credential.retire', { ...document, username });
  return document['oldpasswordhash'] !== undefined;
}

/** Changes the level, the expiry, or whether a credential is disabled. Throws 404 and 412. */
export async function changeCredential(
  changeContext: ChangeContext,
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
  const { document } = await updateCredential(changeContext.db, username, Object.fromEntries(parts), ifMatch);
  await noteCredential(changeContext, 'credential.change', { ...document, username }, changed);
}

/** Removes a credential with its hash. Throws 404 and 412. */
export async function revokeCredential(
  changeContext: ChangeContext,
  username: string,
  ifMatch?: string,
): Promise<void> {
  const credentials = credentialsOf(changeContext.db);
  const { document } = await changeStored(
    credentials,
    named(username),
    { ifMatch, unknown: () => unknownCredential(username) },
    async (isUnchanged) => (await credentials.deleteOne(isUnchanged)).deletedCount,
  );
  await noteCredential(changeContext, 'credential.revoke', { ...document, username });
}

/** Lists the credentials with a scope in one of the given organizations; all credentials by default. */
export function listCredentials(db: mongo.Db, organizationids?: string[]): Promise<ListedCredential[]> {
  const which = organizationids === undefined ? {} : { 'scopes.organizationid': { $in: organizationids } };
  return credentialsOf(db)
    .find<ListedCredential>(which, { ...LISTING, projection: LISTED, sort: { username: 1 } })
    .toArray();
}

/**
 * Reads a stored credential with its entity tag. Its document contains the hash, which must not leave the service. Throws
 * 404.
 */
export async function readCredential(db: mongo.Db, username: string): Promise<TaggedDocument> {
  const stored = await readStored(credentialsOf(db), named(username));
  if (stored === undefined) throw unknownCredential(username);
  return stored;
}

export async function credentialExists(db: mongo.Db, username: string): Promise<boolean> {
  return (await credentialsOf(db).findOne(named(username), { projection: { _id: 1 } })) !== null;
}

/** Changes a credential. Throws 404 and 412. */
function updateCredential(
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

async function noteCredential(
  changeContext: ChangeContext,
  action: CredentialAction,
  credential: { username: string; scopes?: unknown },
  changed?: string[],
): Promise<void> {
  await recordAction(changeContext, credentialAction(action, credential, changed));
}

type CredentialAction = `credential.${'issue' | 'change' | 'rotate' | 'retire' | 'revoke'}`;

/** If all scopes are in one organization, the entry belongs to the audit trail of that organization. */
export function credentialAction(
  action: CredentialAction,
  { username, scopes }: { username: string; scopes?: unknown },
  changed?: string[],
): AuditedAction {
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

/** The query for the credential with this user name. */
export function named(username: string): mongo.Document {
  return { username: exactly(username) };
}

function credentialsOf(db: mongo.Db): mongo.Collection {
  return db.collection(CREDENTIALS);
}

/** Why a stored credential cannot have this user name; undefined if it can. */
export function usernameFault(username: string): string | undefined {
  return SENDABLE.test(username) && !PATH_STEPS.includes(username) ? undefined : USERNAME_RULE;
}

/**
 * Why a new credential cannot have this user name; undefined if it can. A new name must not look like another one: a list of
 * credentials would not show which of the two has which level or scope.
 */
export function newUsernameFault(username: string): string | undefined {
  const isPlain =
    !INVISIBLE.test(username) && !ODD_SPACE.test(username) && username.normalize('NFC') === username;
  return isPlain ? usernameFault(username) : USERNAME_RULE;
}

/** Usage history must not carry over to a reused user name. */
export async function forgetUses(db: mongo.Db, usernames: string[]): Promise<void> {
  await db.collection<CredentialUse>(CREDENTIAL_USES).deleteMany({ _id: { $in: usernames } });
}
