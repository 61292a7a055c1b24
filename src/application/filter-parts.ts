import type { Filter } from './filter.js';
import { LOGICAL } from './filter-operators.js';
import { firstKey, isDocument, startsWithOperator } from './filter-values.js';

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

/** The parts, and those that `$elemMatch` has for the elements of their fields: `rows.a` within `rows`. */
export function withinElements(parts: FilterPart[]): FilterPart[] {
  return parts.flatMap((part) => [part, ...withinElements(elementsOf(part))]);
}

function elementsOf({ place, field, condition }: FilterPart): FilterPart[] {
  if (!isDocument(condition)) return [];
  return Object.entries(condition).flatMap(([operator, argument]: [string, unknown]): FilterPart[] => {
    const at = `${place}.${operator}`;
    if (operator === '$not') return elementsOf({ place: at, field, condition: argument });
    if (operator === '$all' && Array.isArray(argument))
      return argument.flatMap((one, index) =>
        elementsOf({ place: `${at}[${index}]`, field, condition: one as unknown }),
      );
    if (operator !== '$elemMatch' || !isDocument(argument)) return [];
    const isFilter = !startsWithOperator(argument) || LOGICAL.has(firstKey(argument)!);
    if (!isFilter) return elementsOf({ place: at, field, condition: argument });
    return partsOf(argument).map((part) => ({
      place: `${at}.${part.place}`,
      field: `${field}.${part.field}`,
      condition: part.condition,
    }));
  });
}
