export { setAsideFromOutside } from './addition.js';
export { QuarantineModule } from './quarantine.module.js';
export { Quarantine, type RefusedWrite } from './quarantine.js';
export {
  type Concern,
  type ConcernedRecord,
  type ConcernedTombstone,
  countSetAside,
  QUARANTINE,
  type SetAside,
} from './set-aside.schema.js';
