export { MinuteCounts } from './minute-counts.js';
export { Authenticator } from './authenticator.js';
export { AuthModule } from './auth.module.js';
export { type Login, parseBasicHeader } from './basic-header.js';
export { BasicGuard } from './basic.guard.js';
export { CREDENTIAL_MODEL, CREDENTIALS, credentialSchema } from './credential.schema.js';
export { CREDENTIAL_USES, type CredentialUse } from './credential-use.schema.js';
export { CredentialUses } from './credential-uses.js';
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
export {
  AboveApplications,
  type Access,
  accessOf,
  actAs,
  actorOf,
  Caller,
  callerOf,
  Needs,
  Public,
} from './decorators.js';
export { LevelGuard } from './level.guard.js';
export { hashPassword } from './password-hash.js';
