export { Horizon } from './horizon.js';
export { IncompleteIdentities } from './incomplete-identities.js';
export { KnownChannels } from './known-channels.js';
export { type EntryStretch, LedgerSlices } from './ledger-slices.js';
export { LedgerModule } from './ledger.module.js';
export { Ledger } from './ledger.js';
export * from './plain.js';
