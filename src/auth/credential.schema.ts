import { Schema } from 'mongoose';
import type { Credential } from './credential.js';

/** When a credential was last let in, and from where. */
export interface CredentialUse {
  /** Its user name; empty for the one document that says since when uses are noted. */
  _id: string;
  at: Date;
  /** Address of the client. */
  from?: string;
}

/** Name of the collection. */
export const CREDENTIALS = 'credentials';

/** Name of the Mongoose model of `credentials`. */
export const CREDENTIAL_MODEL = 'Credential';

/** Operators write this collection too, so a document is read as it is and `credentialState` checks it. */
export const credentialSchema = new Schema<Credential>(
  {},
  { collection: CREDENTIALS, strict: false, versionKey: false },
)
  .index({ username: 1 }, { unique: true })
  .index({ 'scopes.organizationid': 1 });

/** Name of the collection. */
export const CREDENTIAL_USES = 'tidemark.credentialuses';

/** Name of the Mongoose model of `tidemark.credentialuses`. */
export const CREDENTIAL_USE_MODEL = 'CredentialUse';

export const credentialUseSchema = new Schema<CredentialUse>(
  { _id: String },
  { collection: CREDENTIAL_USES, strict: false, versionKey: false },
);
