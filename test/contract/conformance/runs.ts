import type { JudgeOptions } from '../../../conformance/src/index.js';

/** More than the contract tests of the kit need. */
export const BOUNDS: JudgeOptions['bounds'] = { requests: 1500, requestMs: 30_000, runMs: 220_000 };

/** Of these faults no right event comes: the kit is to wait in vain for a short time only. */
const IN_VAIN = ['an event tells what max does no more', 'no event comes'];

export function boundsFor(fault: string): JudgeOptions['bounds'] {
  return IN_VAIN.includes(fault) ? { ...BOUNDS, atOnceMs: 1500 } : BOUNDS;
}

export function withoutChannel({
  channel: _channel,
  ...target
}: JudgeOptions['target']): JudgeOptions['target'] {
  return target;
}
