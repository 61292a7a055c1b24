import { Schema } from 'mongoose';
import type { Credential } from './credential.js';

/** Name of the collection. */
export const CREDENTIALS = 'credentials';

/** Name of the Mongoose model of `credentials`. */
export const CREDENTIAL_MODEL = 'Credential';

/** Operators write this collection too, so reading takes it as it comes and the checks below decide. */
export const credentialSchema = new Schema<Credential>(
  {},
  { collection: CREDENTIALS, strict: false, versionKey: false },
)
  .index({ username: 1 }, { unique: true })
  .index({ 'scopes.organizationid': 1 });
