export { setAsideFromOutside } from './addition.js';
export {
  type Concern,
  type ConcernedRecord,
  type ConcernedTombstone,
  countSetAside,
  QUARANTINE,
  type SetAside,
  quarantineModels,
} from './set-aside.schema.js';
