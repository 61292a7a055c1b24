export { Aftercare } from './aftercare.js';
export { AuditPace } from './audit-pace.js';
export { type AuditProgress, AUDITS, LEDGER_AUDIT } from './audit-progress.schema.js';
export { Audit } from './audit.js';
export { Expiry } from './expiry.js';
export { UpkeepModule } from './upkeep.module.js';
