export { Aftercare } from './aftercare.js';
export { QuarantineModule } from './quarantine.module.js';
export { Quarantine } from './quarantine.js';
export { type Concern, countSetAside, QUARANTINE, type SetAside } from './set-aside.schema.js';
