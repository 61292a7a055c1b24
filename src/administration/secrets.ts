import { hashPassword } from '../auth/plain.js';
import { noteCredential, updateCredential } from './credentials.js';
import type { Desk } from './desk.js';
import { isPast } from './refused.js';

/** For how long the password before is kept; without, it opens nothing more. */
export interface Rotation {
  keepOldUntil?: Date | undefined;
  ifMatch?: string | undefined;
}

/**
 * Gives a credential another password. The one before opens it too until `keepOldUntil`; one before that opens nothing more.
 * Throws 400, 404 and 412.
 */
export async function rotateCredential(
  desk: Desk,
  username: string,
  password: string,
  { keepOldUntil, ifMatch }: Rotation = {},
): Promise<void> {
  if (keepOldUntil !== undefined && keepOldUntil <= new Date()) throw isPast('keepOldUntil');
  const passwordhash = await hashPassword(password);
  const { document } = await updateCredential(
    desk.db,
    username,
    ({ passwordhash: oldpasswordhash }) =>
      keepOldUntil === undefined
        ? { $set: { passwordhash }, $unset: { oldpasswordhash: '', oldexpiresAt: '' } }
        : { $set: { passwordhash, oldpasswordhash, oldexpiresAt: keepOldUntil } },
    ifMatch,
  );
  await noteCredential(desk, 'credential.rotate', { ...document, username });
}

/** Ends the password before, where one is kept. Whether there was one. Throws 404 and 412. */
export async function retireOldPassword(desk: Desk, username: string, ifMatch?: string): Promise<boolean> {
  const retired = { $unset: { oldpasswordhash: '', oldexpiresAt: '' } };
  const { document } = await updateCredential(desk.db, username, retired, ifMatch);
  await noteCredential(desk, 'credential.retire', { ...document, username });
  return document['oldpasswordhash'] !== undefined;
}
