export {
  collectionNamed,
  CREATED_KINDS,
  type CreatedKind,
  DEAR,
  DESIGNED_KINDS,
  type DesignedKind,
  HOUSE_KINDS,
  isDesigned,
  isKindOf,
  LATE_KIND,
  SHOP,
} from './created-kinds.js';
export { type DesignedField, type DesignedWrite, namesOf } from './designed-writes.js';
export type { KindPassCut, KindPassPlan } from './kind-passes.js';
export type { Fault, Outage, Disturbance, Which } from './faults.js';
export type { FloodPart, FloodPlan, FloodStep } from './floods.js';
export type { ChaseStep, HeldCommandPlan, LeaderWrite } from './held-commands.js';
export {
  allIds,
  CHANNELS,
  type Content,
  FOLLOWED_CHANNEL,
  FOLLOWED_VIEWS,
  SERVICES,
  type ServiceName,
  someContent,
  VIEWS,
} from './keys.js';
export type { Claim, Operation, OperationName } from './operations.js';
export { type OwnPassPlan, type PassCut, type PassStage, someWrites } from './own-passes.js';
export { type HistoryPlan, planOf, type Round, type PlanStep, WRITERS } from './plan.js';
export { Random } from './random.js';
export { insertedStamp, type Stamp } from './stamps.js';
