/** The types of values in items (contract §1). A date is a string in the format `date-time`. */
const JSON_TYPES = [
  'null',
  'boolean',
  'integer',
  'number',
  'date-time',
  'string',
  'object',
  'array',
] as const;

export type JsonType = (typeof JSON_TYPES)[number];

/** How often something was seen. Earlier samples fade, so a count need not be a whole number. */
export interface Tally {
  count: number;
  absence?: Absence;
}

/** Since when, and how often, the samples have not shown something that earlier ones showed. */
export interface Absence {
  /** The number of values since then that could have shown it. */
  chances: number;
  /** The fraction of such values that showed it before its absence, 0 to 1. */
  share: number;
  /** The round of the walk through the records in which it was first absent. */
  round: number;
}

/** What was seen of the values at one place: a field, the elements of lists, or the values of a map. */
export interface SeenField extends Tally {
  types: Map<JsonType, Tally>;
  fields: Map<string, SeenField>;
  /** Members whose names are data, such as ids. */
  values?: SeenField;
  elements?: SeenField;
  /** Had more than {@link MOST_NAMES} names. All of its members are values now. */
  isMap?: true;
  /** Some of its members are left out, because the schema has no place for them. */
  isPartial?: true;
}

/** What a number of records showed of `data`. */
export interface SeenItems {
  records: number;
  data: SeenField;
}

/** The maximum number of places in a schema. Further fields are left out. */
export const MOST_PLACES = 1000;
/** An object with more different names is a map: its names are data, and are forgotten. */
export const MOST_NAMES = 200;
/** The maximum nesting depth of fields, counted from `data`. Deeper fields are omitted, as in the paths that select fields. */
const MOST_DEPTH = 10;
const LONGEST_NAME = 64;

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Numbers, ObjectIds and other long hexadecimal texts, UUIDs, dates, e-mail addresses, paths and URLs. */
const IS_DATA = /^[\d\s.,:+-]+$|^[\da-f]{16,}$|^[\da-f]{8}-[\da-f]{4}-|^\d{4}-\d\d-\d\d|[@/\\]|^https?:/i;

/** Whether the name of a member is data rather than the name of a field. It could be an id, or an e-mail. */
export function isDataName(name: string): boolean {
  return name === '' || name.length > LONGEST_NAME || IS_DATA.test(name);
}

export function emptyPlace(): SeenField {
  return { count: 0, types: new Map(), fields: new Map() };
}

export function nothingSeen(): SeenItems {
  return { records: 0, data: emptyPlace() };
}

/** The types of a place, in a fixed order: `number` includes `integer`, and `string` includes `date-time`. */
export function typesOf({ types }: SeenField): JsonType[] {
  return JSON_TYPES.filter((type) => {
    if (type === 'integer' && types.has('number')) return false;
    if (type === 'date-time' && types.has('string')) return false;
    return types.has(type);
  });
}

/**
 * Collects what items show. `known` is what earlier samples showed: a map stays a map, so that an object with about
 * {@link MOST_NAMES} names does not change back and forth.
 */
export class SampleCollector {
  readonly seen: SeenItems = nothingSeen();
  private places = 1;

  constructor(private readonly known: SeenItems | undefined) {}

  add(data: unknown): void {
    this.seen.records += 1;
    this.put(this.seen.data, this.known?.data, data, 1);
  }

  private put(place: SeenField, known: SeenField | undefined, value: unknown, depth: number): void {
    place.count += 1;
    const type = typeOf(value);
    const tally = place.types.get(type);
    if (tally === undefined) place.types.set(type, { count: 1 });
    else tally.count += 1;
    if (depth > MOST_DEPTH) return;
    if (Array.isArray(value)) this.putElements(place, known, value, depth);
    else if (type === 'object') this.putMembers(place, known, value as object, depth);
  }

  private putElements(
    place: SeenField,
    known: SeenField | undefined,
    values: unknown[],
    depth: number,
  ): void {
    if (values.length === 0) return;
    const elements = place.elements ?? this.newPlace();
    if (elements === undefined) return;
    place.elements = elements;
    // A nested list counts as a level, so that the recursion is bounded.
    for (const value of values)
      this.put(elements, known?.elements, value, Array.isArray(value) ? depth + 1 : depth);
  }

  private putMembers(place: SeenField, known: SeenField | undefined, members: object, depth: number): void {
    if (known?.isMap === true) place.isMap = true;
    for (const [name, value] of Object.entries(members)) {
      const isValue = place.isMap === true || isDataName(name);
      const member = isValue ? this.valuesOf(place) : this.fieldOf(place, name);
      const knownMember = isValue ? known?.values : known?.fields.get(name);
      if (member === undefined) place.isPartial = true;
      else this.put(member, knownMember, value, depth + 1);
      if (place.fields.size > MOST_NAMES) this.becomeMap(place);
    }
  }

  private fieldOf(place: SeenField, name: string): SeenField | undefined {
    const found = place.fields.get(name);
    if (found !== undefined) return found;
    const made = this.newPlace();
    if (made !== undefined) place.fields.set(name, made);
    return made;
  }

  private valuesOf(place: SeenField): SeenField | undefined {
    const values = place.values ?? this.newPlace();
    if (values !== undefined) place.values = values;
    return values;
  }

  /** The removed names free at least as many places as the values take, so the limit is never exceeded. */
  private becomeMap(place: SeenField): void {
    this.places -= countPlaces(place) - 1;
    toMap(place);
    this.places += countPlaces(place) - 1;
  }

  private newPlace(): SeenField | undefined {
    if (this.places >= MOST_PLACES) return undefined;
    this.places += 1;
    return emptyPlace();
  }
}

/** Forgets the names of the members of a place. */
export function toMap(place: SeenField): void {
  for (const field of place.fields.values()) {
    place.values ??= emptyPlace();
    addInto(place.values, field);
  }
  place.fields.clear();
  place.isMap = true;
}

export function countPlaces({ fields, values, elements }: SeenField): number {
  let count = 1;
  for (const inner of [...fields.values(), values, elements])
    if (inner !== undefined) count += countPlaces(inner);
  return count;
}

function addInto(place: SeenField, other: SeenField): void {
  place.count += other.count;
  for (const [type, { count }] of other.types)
    place.types.set(type, { count: (place.types.get(type)?.count ?? 0) + count });
  if (other.isPartial === true) place.isPartial = true;
  if (other.isMap === true && place.isMap !== true) toMap(place);
  for (const [name, field] of other.fields) {
    const own = place.isMap === true ? (place.values ??= emptyPlace()) : fieldIn(place, name);
    addInto(own, field);
  }
  if (other.values !== undefined) addInto((place.values ??= emptyPlace()), other.values);
  if (other.elements !== undefined) addInto((place.elements ??= emptyPlace()), other.elements);
  if (place.fields.size > MOST_NAMES) toMap(place);
}

function fieldIn(place: SeenField, name: string): SeenField {
  const found = place.fields.get(name) ?? emptyPlace();
  place.fields.set(name, found);
  return found;
}

/** Serializes for storage. Names are never object keys, because some have a special meaning in MongoDB or JavaScript. */
export function textOfSeen(seen: SeenItems): string {
  return JSON.stringify(seen, (_key, value: unknown) => (value instanceof Map ? [...value] : value));
}

/** Reads what {@link textOfSeen} wrote; undefined if another program wrote something else. */
export function seenIn(text: unknown): SeenItems | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const seen = JSON.parse(text, (key, value: unknown) =>
      key === 'types' || key === 'fields' ? new Map(value as [string, never][]) : value,
    ) as Partial<SeenItems>;
    return typeof seen.records === 'number' && isField(seen.data) ? (seen as SeenItems) : undefined;
  } catch {
    return undefined;
  }
}

function isField(place: Partial<SeenField> | null | undefined): boolean {
  if (typeof place?.count !== 'number') return false;
  const { types, fields, values, elements } = place;
  return (
    types instanceof Map &&
    fields instanceof Map &&
    [...types.values()].every((tally: Tally | null) => typeof tally?.count === 'number') &&
    [...fields].every(([name, field]) => typeof name === 'string' && isField(field)) &&
    [values, elements].every((inner) => inner === undefined || isField(inner))
  );
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string') return isTimestamp(value) ? 'date-time' : 'string';
  return 'object';
}

/** Whether a text has the format of timestamps, and names a day that exists. */
function isTimestamp(text: string): boolean {
  const at = DATE_TIME.test(text) ? new Date(text) : undefined;
  return at !== undefined && !Number.isNaN(at.getTime()) && at.toISOString() === text;
}
