export { type LedgerChange, type Life, lived, outlived } from './changes.js';
export { Channels, type KnownChannel } from './channels.js';
export { Horizon } from './horizon.js';
export { type Identity, identityKey, LEDGER_MODEL, type LedgerEntry } from './ledger.js';
export { LedgerModule } from './ledger.module.js';
export { Ledger } from './ledger.service.js';
export { type Place, placeBehind, placeOf } from './place.js';
export { inSlices } from './slices.js';
export { type PartialIdentity, Strays } from './strays.js';
