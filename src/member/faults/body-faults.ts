import type { InputError } from '../../http/index.js';
import { pointerTo } from './pointer.js';

/** The body itself, `extrafields`, and a section. */
const DEEPEST = 3;
const LONGEST_NAME = 1000;
const RIGHT_NAME = 'A right name: "shoesize".';

/** Most faults that are listed. */
export const MOST_FAULTS = 20;

interface Place {
  value: unknown;
  pointer: string;
  depth: number;
}

/**
 * What no body may hold, whatever its shape: names that mean something to MongoDB or JavaScript, text that is no
 * Unicode, and nesting deeper than any shape has (libraries behind this one recurse, so it must not).
 */
export function bodyFaults(body: object): InputError[] {
  const faults: InputError[] = [];
  const places: Place[] = [{ value: body, pointer: '', depth: 1 }];
  for (const place of places) {
    if (faults.length >= MOST_FAULTS) break;
    const detail = valueFault(place);
    if (detail !== undefined) faults.push({ pointer: place.pointer, detail });
    else if (typeof place.value === 'object' && place.value !== null)
      enter(place, place.value, places, faults);
  }
  return faults.slice(0, MOST_FAULTS);
}

function valueFault({ value, depth }: Place): string | undefined {
  if (typeof value === 'string') {
    return value.isWellFormed()
      ? undefined
      : 'holds half a surrogate pair. Send whole characters, such as "\u{1F431}".';
  }
  const tooDeep = typeof value === 'object' && value !== null && depth > DEEPEST;
  return tooDeep
    ? 'is nested too deep. The deepest value is {"extrafields": {"section": {"name": "text"}}}.'
    : undefined;
}

/** What JavaScript and the drivers of MongoDB take for something of their own: programs that read the member stumble over it. */
const NOT_ALLOWED = new Set(['__proto__', 'constructor', '_bsontype']);

/** The names that {@link bodyFaults} accepts: OpenAPI 3.0 has no keyword for the names of properties. */
export const RIGHT_NAMES = `A name has 1 to ${LONGEST_NAME} characters, does not start with "$", and contains neither "." nor the NUL character; ${[...NOT_ALLOWED].join(', ')} are not allowed`;

function enter({ pointer, depth }: Place, value: object, places: Place[], faults: InputError[]): void {
  const isArray = Array.isArray(value);
  for (const [name, inner] of Object.entries(value) as [string, unknown][]) {
    const detail = isArray ? undefined : nameFault(name);
    if (detail === undefined)
      places.push({ value: inner, pointer: pointerTo(pointer, name), depth: depth + 1 });
    else faults.push({ pointer: isShowable(name) ? pointerTo(pointer, name) : pointer, detail });
  }
}

function nameFault(name: string): string | undefined {
  if (name === '') return `has an empty name. ${RIGHT_NAME}`;
  if (NOT_ALLOWED.has(name)) return `has a name that is not allowed. ${RIGHT_NAME}`;
  if (name.startsWith('$')) return `has a name that starts with $. ${RIGHT_NAME}`;
  if (name.includes('.')) return `has a name with a dot. ${RIGHT_NAME}`;
  if (name.includes('\0')) return `has a name with a NUL character. ${RIGHT_NAME}`;
  if (name.length > LONGEST_NAME)
    return `holds a name of more than ${LONGEST_NAME} characters. ${RIGHT_NAME}`;
  if (!name.isWellFormed()) return `holds a name with half a surrogate pair. ${RIGHT_NAME}`;
  return undefined;
}

function isShowable(name: string): boolean {
  return name.length <= LONGEST_NAME && name.isWellFormed();
}
