import type { Filter } from './filter.js';

/** A field of a filter with its condition, and where it stands, such as `$or[1].data.price`. */
export interface FilterPart {
  place: string;
  /** As it is written: the whole path. */
  field: string;
  condition: unknown;
}

/** Every field that a valid filter (contract §4) has a condition on, as the record has it: not within `$elemMatch`. */
export function partsOf(filter: Filter): FilterPart[] {
  return Object.entries(filter).flatMap(([key, value]: [string, unknown]) => {
    if (!key.startsWith('$')) return [{ place: key, field: key, condition: value }];
    return (value as Filter[]).flatMap((inner, index) =>
      partsOf(inner).map((part) => ({ ...part, place: `${key}[${index}].${part.place}` })),
    );
  });
}
