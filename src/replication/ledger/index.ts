export type { LedgerChange, Life } from './changes.js';
export { Channels, type KnownChannel } from './channels.js';
export { type Identity, identityKey, LEDGER_MODEL, type LedgerEntry } from './ledger.js';
export { LedgerModule } from './ledger.module.js';
export { Ledger } from './ledger.service.js';
export { type PartialIdentity, Strays } from './strays.js';
