export { filterAt, nameAt } from './bounded.js';
export {
  EFFECTIVE_MODEL,
  type Effective,
  type EffectiveChange,
  judgedDifferently,
  type Known,
  reconciled,
  type State,
  type Wanted,
  wantedOf,
} from './effective.js';
export { Entries, type Entry } from './entries.js';
export { EffectiveModule } from './effective.module.js';
