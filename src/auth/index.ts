export * from './plain.js';
export { AuthModule } from './auth.module.js';
export { Authenticator, CredentialUses } from './authenticator.js';
export {
  AboveApplications,
  BasicGuard,
  Caller,
  LevelGuard,
  Needs,
  Public,
  accessOf,
  actAs,
  actingCallerOf,
  callerOf,
  matchedHashOf,
} from './guards.js';
export { MinuteCounts } from './login-limiter.js';
