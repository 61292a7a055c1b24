export { EMAIL_DUPLICATE_MODEL, type EmailDuplicate } from './email-duplicates.js';
export { WatcherModule } from './watcher.module.js';
