export type { LedgerChange, Life } from './changes.js';
export type { Claims, Holder, Holders, Rival } from './claims.js';
export {
  type DeadIdentity,
  type Identity,
  identityKey,
  identityOf,
  isSame,
  type PartialIdentity,
  type StoredIdentity,
  textsOf,
  withTold,
} from './identity.js';
export { inTenant } from './in-tenant.js';
export type { KnownChannel } from './known-channel.schema.js';
