export {
  EFFECTIVE_MODEL,
  type Effective,
  type EffectiveChange,
  judgedDifferently,
  reconciled,
  type State,
  type Wanted,
  wantedOf,
} from './effective.js';
export { EffectiveModule } from './effective.module.js';
