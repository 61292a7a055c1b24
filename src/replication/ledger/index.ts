export { type LedgerChange, type Life, lived, outlived } from './changes.js';
export type { Claims, Holders, Rival } from './claims.js';
export { HORIZONS } from './horizon.schema.js';
export { Horizon } from './horizon.js';
export { identitiesByTenant } from './identities-by-tenant.js';
export {
  type Identity,
  identityKey,
  identityOf,
  isSame,
  type PartialIdentity,
  type StoredIdentity,
  textsOf,
  withTold,
} from './identity.js';
export { IncompleteIdentities } from './incomplete-identities.js';
export { INCOMPLETE_IDENTITIES, type IncompleteIdentity } from './incomplete-identity.schema.js';
export type { KnownChannel } from './known-channel.schema.js';
export { KnownChannels } from './known-channels.js';
export { LedgerSlices } from './ledger-slices.js';
export { LedgerModule } from './ledger.module.js';
export { LEDGER, LEDGER_MODEL, type LedgerEntry } from './ledger.schema.js';
export { Ledger } from './ledger.js';
export { recordsUnder } from './records-under.js';
export { Rivals } from './rivals.js';
