import { emailKeyOf } from '../../member/index.js';
import type { Kind } from '../../record/index.js';
import type { PresentRecord } from './present-record.js';

/** What a record lacks of what contract §2 and §4 promise. */
export interface NeededRepair {
  /** It has no `id`, or one that is neither a text nor a whole number. */
  id: boolean;
  /** Its `lastupdated` is missing, no date, or more than a second in the future. */
  stamp: boolean;
  /** The `emailkey` it should have; `null` where it should have none. Absent where it fits. */
  emailkey?: string | null;
}

/** What there is to repair in a deliverable record; nothing where all is well. */
export function neededRepairOf(kind: Kind, record: PresentRecord): NeededRepair | undefined {
  const repairing: NeededRepair = { id: typeof record.id !== 'string', stamp: !record.isStamped };
  if (kind === 'member') {
    const wanted = emailKeyOf(record.email) ?? null;
    if (wanted !== record.emailkey) repairing.emailkey = wanted;
  }
  return repairing.id || repairing.stamp || repairing.emailkey !== undefined ? repairing : undefined;
}
