export {
  covers,
  type Credential,
  CREDENTIAL_MODEL,
  CREDENTIAL_USES,
  CREDENTIALS,
  credentialSchema,
  credentialState,
  type CredentialUse,
  type Level,
  LEVELS,
  type Login,
  parseBasicHeader,
  liveHashes,
  reaches,
  type Scope,
} from './credential.js';
export { hashPassword } from './password-hash.js';
