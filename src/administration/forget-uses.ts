import type { mongo } from 'mongoose';
import { CREDENTIAL_USES, type CredentialUse } from '../auth/index.js';

/** Whoever had a user name before is nobody to whoever has it now. */
export async function forgetUses(db: mongo.Db, usernames: string[]): Promise<void> {
  await db.collection<CredentialUse>(CREDENTIAL_USES).deleteMany({ _id: { $in: usernames } });
}
