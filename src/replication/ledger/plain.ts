export { HORIZONS } from './horizon.schema.js';
export { identitiesByTenant } from './identities-by-tenant.js';
export { INCOMPLETE_IDENTITIES, type IncompleteIdentity } from './incomplete-identity.schema.js';
export { LEDGER, LEDGER_MODEL, type LedgerEntry } from './ledger.schema.js';
export * from './pure.js';
export { recordsUnder } from './records-under.js';
export { ledgerModels } from './models.js';
