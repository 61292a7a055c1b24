import type { mongo } from 'mongoose';
import {
  type Credential,
  CREDENTIAL_USES,
  CREDENTIALS,
  type CredentialUse,
  type Level,
  type Scope,
} from '../auth/plain.js';
import { exactly } from '../platform/common/index.js';
import type { AuditedAction } from '../trail/index.js';
import {
  assertMatches,
  changeStored,
  type ChangeContext,
  recordAction,
  readStored,
  type TaggedDocument,
  unknownCredential,
} from './changes.js';
import { LISTING, readAll } from './listed-services.js';

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
  `is not valid: it must have 1 to ${LONGEST_USERNAME} visible characters, such as "harvester", without a colon and with ` +
  'only single spaces between words; accented letters must be one character each (NFC), and "." and ".." are not allowed.';

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

/** The fields of a credential that are listed. */
export const LISTED = {
  ...{ _id: 0, username: 1, level: 1, scopes: 1 },
  ...{ disabled: 1, expiresAt: 1, oldexpiresAt: 1 },
} as const;

/** Invalidates the previous password. Returns whether there was one. Throws 404 and 412. */
export async function retireOldPassword(
  changeContext: ChangeContext,
  username: string,
  ifMatch?: string,
): Promise<boolean> {
  const retired = { $unset: { oldpasswordhash: '', oldexpiresAt: '' } };
  const { document } = await updateCredential(changeContext.db, username, retired, { ifMatch });
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
  if (changed.length === 0) return assertMatches(await readCredential(changeContext.db, username), ifMatch);
  const parts = Object.entries({ $set, $unset }).filter(([, part]) => Object.keys(part).length > 0);
  const { document } = await updateCredential(changeContext.db, username, Object.fromEntries(parts), {
    ifMatch,
  });
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
export async function listCredentials(db: mongo.Db, organizationids?: string[]): Promise<ListedCredential[]> {
  const which = organizationids === undefined ? {} : { 'scopes.organizationid': { $in: organizationids } };
  return readAll<ListedCredential>(
    credentialsOf(db).find(which, { ...LISTING, projection: LISTED, sort: { username: 1 }, raw: true }),
  );
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

/** Changes a credential, in the transaction of the session if one is given. Throws 404 and 412. */
export function updateCredential(
  db: mongo.Db,
  username: string,
  change:
    | mongo.UpdateFilter<mongo.Document>
    | ((stored: mongo.Document) => mongo.UpdateFilter<mongo.Document>),
  { ifMatch, session }: { ifMatch?: string | undefined; session?: mongo.ClientSession } = {},
): Promise<TaggedDocument> {
  const credentials = credentialsOf(db);
  const unknown = () => unknownCredential(username);
  return changeStored(
    credentials,
    named(username),
    { ifMatch, unknown, session },
    async (isUnchanged, { document }) => {
      const made = typeof change === 'function' ? change(document) : change;
      return (await credentials.updateOne(isUnchanged, made, session === undefined ? {} : { session }))
        .matchedCount;
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

export function credentialsOf(db: mongo.Db): mongo.Collection {
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
