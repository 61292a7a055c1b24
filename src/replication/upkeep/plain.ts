export { type AuditProgress, AUDITS, LEDGER_AUDIT, upkeepModels } from './audit-progress.schema.js';
