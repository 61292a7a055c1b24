import { Schema } from 'mongoose';
import type { Credential } from './credential.js';

/** When and from where a credential was last used. */
export interface CredentialUse {
  /** The user name; empty for the document that holds the start of the tracking. */
  _id: string;
  at: Date;
  /** Address of the client. */
  from?: string;
}

/** Name of the collection. */
export const CREDENTIALS = 'credentials';

/** Name of the Mongoose model of `credentials`. */
export const CREDENTIAL_MODEL = 'Credential';

/** Operators write this collection too, so documents are read without validation and checked by `credentialState`. */
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
