export {
  covers,
  type Credential,
  credentialState,
  type Level,
  LEVELS,
  parseBasicHeader,
  liveHashes,
  reaches,
  type Scope,
} from './credential.js';
export {
  CREDENTIAL_MODEL,
  CREDENTIAL_USES,
  CREDENTIALS,
  credentialSchema,
  type CredentialUse,
} from './credential.schema.js';
export { hashPassword } from './password-hash.js';
