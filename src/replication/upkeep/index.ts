export { Aftercare } from './aftercare.js';
export { AuditPace } from './audit-pace.js';
export { Audit } from './audit.js';
export { Expiry } from './expiry.js';
export * from './plain.js';
export { UpkeepModule } from './upkeep.module.js';
