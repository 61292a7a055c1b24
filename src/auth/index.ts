export { AuthModule } from './auth.module.js';
export { BasicGuard } from './basic.guard.js';
export {
  covers,
  type Credential,
  CREDENTIAL_MODEL,
  credentialSchema,
  type CredentialStanding,
  type Level,
  LEVELS,
  type Scope,
  standing,
} from './credential.js';
export { Caller, callerOf, IS_PUBLIC, NEEDED_LEVEL, Needs, Public } from './decorators.js';
export { LevelGuard } from './level.guard.js';
export { hashPassword } from './passwords.js';
