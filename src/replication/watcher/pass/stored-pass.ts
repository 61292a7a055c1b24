import { mongo } from 'mongoose';
import type { PassPlace, PassProgress } from '../../progress/index.js';

/** A place in the log: the cluster time in hex, and what is behind it. */
const PLACE = /^[0-9A-F]{16}/;

/** Whether what is stored of a pass is enough to go on with it: a foreign program may have stored anything. */
export function isPassStored(stored: unknown): stored is PassProgress {
  const { reason, isRepair, reached, later = [], first = [] } = fieldsOf<PassProgress>(stored);
  return (
    typeof reason === 'string' &&
    typeof isRepair === 'boolean' &&
    (reached === undefined || isPlaceStored(reached)) &&
    [later, first].every((tenants: unknown) => Array.isArray(tenants) && tenants.every(isTenant))
  );
}

function isPlaceStored(stored: unknown): boolean {
  const { at, token, step, behind } = fieldsOf<PassPlace>(stored);
  return (
    typeof at === 'string' &&
    PLACE.test(at) &&
    typeof fieldsOf<{ _data: string }>(token)._data === 'string' &&
    typeof step === 'string' &&
    (behind === undefined || behind instanceof mongo.ObjectId)
  );
}

function isTenant(stored: unknown): boolean {
  const { organizationid, appid } = fieldsOf<{ organizationid: string; appid: string }>(stored);
  return typeof organizationid === 'string' && typeof appid === 'string';
}

/** The fields of what may be nothing, or no document. */
function fieldsOf<T>(stored: unknown): { [Field in keyof T]?: unknown } {
  return stored ?? {};
}
