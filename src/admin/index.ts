export { applicationExists, createApplication, listApplications } from './applications.js';
export { credentialExists, issueCredential, randomPassword, rotateCredential } from './credentials.js';
export { runCommandLine } from './run.js';
export { setService } from './services.js';
