export { Authenticator } from './authenticator.js';
export { AuthModule } from './auth.module.js';
export { BasicGuard, LevelGuard } from './guards.js';
export { CredentialUses } from './credential-uses.js';
export {
  AboveApplications,
  accessOf,
  actAs,
  actorOf,
  Caller,
  callerOf,
  Needs,
  Public,
} from './decorators.js';
export { MinuteCounts } from './login-limiter.js';
export * from './plain.js';
