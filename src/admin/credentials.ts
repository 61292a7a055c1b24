import { randomBytes } from 'node:crypto';
import type { mongo } from 'mongoose';
import { type Credential, CREDENTIALS, hashPassword, type Level, type Scope } from '../auth/index.js';
import { exactly, FatalError, shown } from '../common/index.js';
import { isDuplicateKey } from '../database/index.js';

/** A user name ends at the first colon where it is sent (RFC 7617), and control characters are not sent at all. */
const USERNAME = /^[^:\p{Cc}]{1,128}$/u;
const RANDOM_BYTES = 24;

export interface NewCredential {
  username: string;
  level: Level;
  scopes: Scope[];
  expiresAt?: Date | undefined;
}

/** A credential as it is stored, without its hash, which no command ever reads. Operators write this collection too. */
export type ListedCredential = { [field in Exclude<keyof Credential, 'passwordhash'>]?: unknown };

export function randomPassword(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

export function assertUsername(username: string): void {
  if (!USERNAME.test(username)) {
    throw new FatalError(
      `--username "${shown(username)}" is not valid: 1 to 128 characters, with no colon and no control characters.`,
    );
  }
}

/** Stores a new credential. An existing user name is an error. */
export async function issueCredential(
  db: mongo.Db,
  credential: NewCredential,
  password: string,
): Promise<void> {
  const { username, level, scopes, expiresAt } = credential;
  const passwordhash = await hashPassword(password);
  await credentialsOf(db)
    .insertOne({ username, passwordhash, level, scopes, ...(expiresAt !== undefined && { expiresAt }) })
    .catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      throw new FatalError(
        `There is a credential "${username}" already; "credential rotate" gives it a new password.`,
      );
    });
}

/** Gives a credential another password; the one before opens nothing from then on. */
export async function rotateCredential(db: mongo.Db, username: string, password: string): Promise<void> {
  const passwordhash = await hashPassword(password);
  const { matchedCount } = await credentialsOf(db).updateOne(named(username), { $set: { passwordhash } });
  if (matchedCount === 0) throw noSuchCredential(username);
}

/** Removes a credential with its hash. */
export async function revokeCredential(db: mongo.Db, username: string): Promise<void> {
  const { deletedCount } = await credentialsOf(db).deleteOne(named(username));
  if (deletedCount === 0) throw noSuchCredential(username);
}

export function listCredentials(db: mongo.Db): Promise<ListedCredential[]> {
  const projection = { _id: 0, username: 1, level: 1, scopes: 1, disabled: 1, expiresAt: 1 };
  return credentialsOf(db)
    .find<ListedCredential>({}, { projection, sort: { username: 1 } })
    .toArray();
}

export async function credentialExists(db: mongo.Db, username: string): Promise<boolean> {
  return (await credentialsOf(db).findOne(named(username), { projection: { _id: 1 } })) !== null;
}

function named(username: string): mongo.Document {
  return { username: exactly(username) };
}

function noSuchCredential(username: string): FatalError {
  return new FatalError(`There is no credential "${shown(username)}": see "credential list".`);
}

function credentialsOf(db: mongo.Db): mongo.Collection {
  return db.collection(CREDENTIALS);
}
