export * from './plain.js';
export { QuarantineModule } from './quarantine.module.js';
export { Quarantine, type RefusedWrite } from './quarantine.js';
