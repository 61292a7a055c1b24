import type { ContractCheck } from '../contract-check.js';
import { accessChecks } from './access.js';
import { changesChecks } from './changes.js';
import { digestChecks } from './digest.js';
import { envelopeChecks } from './envelope.js';
import { eventsChecks } from './events.js';
import { feedChecks } from './feeds.js';
import { maxChecks } from './max.js';
import { pagingChecks } from './paging.js';
import { parameterChecks } from './parameters.js';
import { windowChecks } from './window.js';
import { writeChecks } from './writes.js';

/** Every sentence that the kit looks at, in the order of the contract. */
export const CHECKS: ContractCheck[] = [
  ...maxChecks,
  ...envelopeChecks,
  ...pagingChecks,
  ...windowChecks,
  ...parameterChecks,
  ...feedChecks,
  ...accessChecks,
  ...changesChecks,
  ...digestChecks,
  ...eventsChecks,
  ...writeChecks,
];
