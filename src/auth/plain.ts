export { type Login, parseBasicHeader } from './basic-header.js';
export { CREDENTIAL_MODEL, CREDENTIALS, credentialSchema } from './credential.schema.js';
export { CREDENTIAL_USES, type CredentialUse } from './credential-use.schema.js';
export {
  covers,
  type Credential,
  credentialState,
  type Level,
  LEVELS,
  liveHashes,
  reaches,
  type Scope,
} from './credential.js';
export { hashPassword } from './password-hash.js';
