export { applicationExists, createApplication, listApplications } from './applications.js';
export type { Terminal } from './command.js';
export {
  credentialExists,
  issueCredential,
  type NewCredential,
  randomPassword,
  rotateCredential,
} from './credentials.js';
export { importRecords, type ImportOptions, type ImportSummary } from './import/index.js';
export { runCommandLine } from './run.js';
export { setService } from './services.js';
