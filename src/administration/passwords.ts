import { randomBytes } from 'node:crypto';
import type { mongo } from 'mongoose';
import {
  type Credential,
  hashAmong,
  hashPassword,
  type Level,
  liveHashes,
  type Scope,
} from '../auth/plain.js';
import { isDuplicateKey, transactionWithin } from '../platform/database/plain.js';
import type { AuditedAction } from '../trail/index.js';
import {
  type ChangeContext,
  isPast,
  readStored,
  recordActions,
  type Refused,
  type TaggedDocument,
  taken,
  usernameUnavailable,
} from './changes.js';
import {
  credentialAction,
  credentialsOf,
  forgetUses,
  LISTED,
  type ListedCredential,
  named,
  updateCredential,
} from './credentials.js';

const RANDOM_BYTES = 24;
/** How long a change that conflicts with another one is repeated, in ms; less than the time limit of a request. */
const REPEATED_MS = 4000;

const HASHES = { passwordhash: 1, oldpasswordhash: 1, oldexpiresAt: 1 } as const;

interface NewCredential {
  username: string;
  level: Level;
  scopes: Scope[];
  expiresAt?: Date | undefined;
}

interface Rotation {
  /** Until when the previous password stays valid. By default, it becomes invalid at once. */
  keepOldUntil?: Date | undefined;
  ifMatch?: string | undefined;
}

export function randomPassword(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

/**
 * Stores a new credential, and returns it. Throws 409 if the user name exists; the error gives no reason if the caller may
 * not see the existing credential. After an error, nothing is stored, unless only the confirmation of the commit is missing.
 */
export async function issueCredential(
  changeContext: ChangeContext,
  credential: NewCredential,
  password: string,
  maySee: MaySee = () => true,
): Promise<TaggedDocument> {
  const { db } = changeContext;
  const { username, level, scopes, expiresAt } = credential;
  const passwordhash = await hashPassword(password);
  const document = { username, passwordhash, level, scopes, ...(expiresAt !== undefined && { expiresAt }) };
  const stored = await withPassword(changeContext, username, async (session) => {
    await credentialsOf(db).insertOne({ ...document }, { session });
    return credentialAction('credential.issue', { username, scopes });
  }).catch(async (error: unknown) => {
    throw isDuplicateKey(error) ? await usernameTaken(db, username, maySee) : error;
  });
  // The credential is stored, so its password must reach the caller.
  await forgetUses(db, [username]).catch(() => undefined);
  return stored;
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
 * Sets a password, and returns the credential. The previous password stays valid until `keepOldUntil`; older ones
 * become invalid. A password that is valid already keeps its hash. Throws 400, 404 and 412. After an error,
 * the passwords are as before, unless only the confirmation of the commit is missing.
 */
export async function rotateCredential(
  changeContext: ChangeContext,
  username: string,
  password: string,
  { keepOldUntil, ifMatch }: Rotation = {},
): Promise<TaggedDocument> {
  if (keepOldUntil !== undefined && keepOldUntil <= new Date()) throw isPast('keepOldUntil');
  const options = { projection: HASHES };
  const before = await credentialsOf(changeContext.db).findOne<Credential>(named(username), options);
  const passwordhash = await hashAmong(before === null ? [] : liveHashes(before, new Date()), password);
  return withPassword(changeContext, username, async (session) => {
    const { document } = await updateCredential(
      changeContext.db,
      username,
      ({ passwordhash: oldpasswordhash }) =>
        keepOldUntil === undefined
          ? { $set: { passwordhash }, $unset: { oldpasswordhash: '', oldexpiresAt: '' } }
          : { $set: { passwordhash, oldpasswordhash, oldexpiresAt: keepOldUntil } },
      { ifMatch, session },
    );
    return credentialAction('credential.rotate', { ...document, username });
  });
}

/**
 * Writes a password and its entry of the audit trail in one transaction, and returns the credential. If the entry failed
 * after the password was stored, the caller would receive an error without the password.
 */
function withPassword(
  changeContext: ChangeContext,
  username: string,
  write: (session: mongo.ClientSession) => Promise<AuditedAction>,
): Promise<TaggedDocument> {
  const { db } = changeContext;
  return transactionWithin(db.client, REPEATED_MS, async (session) => {
    const audited = await write(session);
    await recordActions(changeContext, [audited], session);
    return (await readStored(credentialsOf(db), named(username), session))!;
  });
}
