export { AuditPace } from './audit-pace.js';
export type { AuditProgress } from './audit-progress.js';
export { EMAIL_DUPLICATE_MODEL, type EmailDuplicate } from './email-duplicates.js';
export { WatcherModule } from './watcher.module.js';
export type { SetAside } from './quarantine.js';
export { Restamps } from './restamps.js';
export { TermOverError } from './life.js';
