import type { Model } from 'mongoose';
import type { Tenant } from '../../record/index.js';
import { type Mark, markName } from './mark.js';

/** The fence that the stream has passed, by the name of the mark. */
export type Fences = Map<string, Date>;

/** The same for those who only look one up. */
export type KnownFences = Pick<Fences, 'get'>;

/** Fences as they are once others are passed too. There are thousands of them, so none is copied. */
export function withPassed(fences: KnownFences, passed: KnownFences): KnownFences {
  return { get: (name) => passed.get(name) ?? fences.get(name) };
}

/** The marks as they stand, of all applications or of one: later ones than the stream has passed can only make more stamps anew, never fewer. */
export async function readFences(marks: Model<Mark>, tenant?: Tenant): Promise<Fences> {
  const own = tenant && {
    '_id.organizationid': tenant.organizationid,
    '_id.appid': tenant.appid,
  };
  const found = await marks.find({ ...own }).lean();
  return new Map(found.map(({ _id, fence }) => [markName(_id), fence]));
}
