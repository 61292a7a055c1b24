export { Authenticator } from './authenticator.js';
export { AuthModule } from './auth.module.js';
export { BasicGuard } from './basic.guard.js';
export { CredentialUses } from './credential-uses.js';
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
export { MinuteCounts } from './minute-counts.js';
export * from './plain.js';
