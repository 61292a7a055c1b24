import { serialize } from 'bson';
import type { Filter } from '../../application/index.js';
import { differingIn } from '../../replication/protocol/index.js';
import type { ServiceVersion } from '../service-versions.js';
import type { Counted } from './sample.js';

/**
 * The query for each group of records. A group that is certainly empty has none: `entering` and `leaving` if both
 * filters are the same, and `concerned` if the fields are the same. Without a version in force, these three have none.
 */
export type Conditions = Partial<Record<Counted, Filter>> & { others: Filter };

/**
 * `$nor` selects the records that do not match, including those without the field. The groups `entering`, `leaving` and
 * `concerned` do not overlap, and together contain the records that are re-stamped (`differingIn`).
 */
export function conditionsOf(wanted: ServiceVersion, inForce: ServiceVersion | undefined): Conditions {
  const { filter } = wanted;
  const others = { $nor: [filter] };
  if (inForce === undefined) return { matching: filter, others };
  const isSameFilter = isSame(filter, inForce.filter);
  const concerned = movedBetween({ ...inForce, filter }, wanted);
  const both = isSameFilter ? filter : { $and: [filter, inForce.filter] };
  return {
    ...{ matching: filter, others },
    ...(!isSameFilter && {
      entering: { $and: [filter, { $nor: [inForce.filter] }] },
      leaving: { $and: [inForce.filter, others] },
    }),
    ...(concerned !== undefined && { concerned: { $and: [both, concerned] } }),
  };
}

/** A query for the records that an edit re-stamps; undefined if there are none. */
export function movedBetween(before: ServiceVersion, { filter, fields }: ServiceVersion): Filter | undefined {
  return differingIn({ filter, fields, previous: before.filter, previousFields: before.fields });
}

/** Whether two filters are equal byte for byte: the order of keys matters in documents. */
function isSame(one: Filter, other: Filter): boolean {
  const [bytes, others] = [one, other].map((filter) => serialize({ filter }));
  return Buffer.compare(bytes!, others!) === 0;
}
