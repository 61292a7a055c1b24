import type { mongo } from 'mongoose';
import { CREDENTIAL_USES, type CredentialUse } from '../auth/plain.js';

/** Usage history must not carry over to a reused user name. */
export async function forgetUses(db: mongo.Db, usernames: string[]): Promise<void> {
  await db.collection<CredentialUse>(CREDENTIAL_USES).deleteMany({ _id: { $in: usernames } });
}
