import type { mongo } from 'mongoose';
import { fits, type Steps } from '../platform/common/index.js';
import { type FieldError, isObject, LONGEST_NAME, MOST_FAULTS, pointerTo } from '../platform/http/pure.js';

/** In characters (contract §2). */
export const LONGEST_TEXT = 1000;
export const LONGEST_PASSWORDHASH = 4096;
export const LONGEST_EMAIL = 254;

export const MOST_SECTIONS = 100;
export const MOST_PROPERTIES = 200;

/** The body itself, `extrafields`, and a section. */
const DEEPEST = 3;
/** Number of values that are checked in one step. */
const AT_ONCE = 1000;
const VALID_NAME = 'A valid name is, for example, "shoesize".';

/** Names with a meaning in JavaScript or in drivers of MongoDB: programs that read the member would fail on them. */
const NOT_ALLOWED = new Set(['__proto__', 'constructor', '_bsontype']);

/** The names that {@link bodyFaults} accepts: OpenAPI 3.0 has no keyword for the names of properties. */
export const PROPERTY_NAME_RULE = `A name has 1 to ${LONGEST_NAME} characters, does not start with "$", and contains neither "." nor the NUL character; ${[...NOT_ALLOWED].join(', ')} are not allowed`;

const EXAMPLE = 'such as {"shop": {"newsletter": true, "size": "M"}}';
const SECTION_EXAMPLE = 'such as {"newsletter": true, "size": "M"}';

/** The values by which a patch deletes a stored value. */
export type Deletion = null | '';

export function isDeletion(value: unknown): value is Deletion {
  return value === null || value === '';
}

interface Place {
  value: object;
  pointer: string;
  depth: number;
}

/**
 * Checks that apply to every body, regardless of its fields: names that {@link PROPERTY_NAME_RULE} forbids, text that
 * is not valid Unicode, and nesting deeper than any field allows. Finds at most {@link MOST_FAULTS}. It does not
 * recurse, so no nesting exhausts the stack.
 */
export function* bodyFaults(body: object): Steps<FieldError[]> {
  const faults: FieldError[] = [];
  const places: Place[] = [{ value: body, pointer: '', depth: 1 }];
  let seen = 0;
  for (const place of places) {
    const { value, pointer, depth } = place;
    const entries: Iterable<[string | number, unknown]> = Array.isArray(value)
      ? value.entries()
      : Object.entries(value);
    for (const [name, inner] of entries) {
      const fault = childFault(place, name, inner);
      if (fault !== undefined) faults.push(fault);
      else if (typeof inner === 'object' && inner !== null)
        places.push({ value: inner, pointer: pointerTo(pointer, name), depth: depth + 1 });
      if (faults.length === MOST_FAULTS) return faults;
      seen += 1;
      if (seen % AT_ONCE === 0) yield;
    }
  }
  return faults;
}

/** The faults of the `extrafields` of a new member. */
export function extrafieldsFaults(value: unknown): FieldError[] {
  return sectionsFaults(value, () => false);
}

/** The faults of the `extrafields` of a patch, where null and "" delete at any depth. */
export function extrafieldsPatchFaults(value: unknown): FieldError[] {
  return sectionsFaults(value, isDeletion);
}

/** The faults of a list of channels, at most {@link MOST_FAULTS}. */
export function channelsFaults(value: unknown): FieldError[] {
  if (!Array.isArray(value))
    return [{ pointer: '', detail: 'must be an array of strings, such as ["web", "shop"]' }];
  const faults: FieldError[] = [];
  for (const [index, channel] of value.entries()) {
    if (typeof channel === 'string' && fits(channel, LONGEST_TEXT)) continue;
    const detail = `must be a string of at most ${LONGEST_TEXT} characters, such as "web"`;
    if (faults.push({ pointer: pointerTo('', index), detail }) === MOST_FAULTS) break;
  }
  return faults;
}

/** The fault of a value or of its name; an element of an array has a number as its name. */
function childFault(
  { pointer, depth }: Place,
  name: string | number,
  value: unknown,
): FieldError | undefined {
  const ofName = typeof name === 'string' ? nameFault(name) : undefined;
  if (ofName !== undefined)
    return { pointer: isShowable(String(name)) ? pointerTo(pointer, name) : pointer, detail: ofName };
  const ofValue = valueFault(value, depth + 1);
  return ofValue === undefined ? undefined : { pointer: pointerTo(pointer, name), detail: ofValue };
}

function valueFault(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') {
    return value.isWellFormed()
      ? undefined
      : 'contains a lone surrogate. Send complete characters, such as "\u{1F431}".';
  }
  const tooDeep = typeof value === 'object' && value !== null && depth > DEEPEST;
  return tooDeep
    ? 'is nested too deep. The deepest value is {"extrafields": {"section": {"name": "text"}}}.'
    : undefined;
}

function nameFault(name: string): string | undefined {
  if (name === '') return `has an empty name. ${VALID_NAME}`;
  if (NOT_ALLOWED.has(name)) return `has a name that is not allowed. ${VALID_NAME}`;
  if (name.startsWith('$')) return `has a name that starts with $. ${VALID_NAME}`;
  if (name.includes('.')) return `has a name with a dot. ${VALID_NAME}`;
  if (name.includes('\0')) return `has a name with a NUL character. ${VALID_NAME}`;
  if (!fits(name, LONGEST_NAME))
    return `contains a name of more than ${LONGEST_NAME} characters. ${VALID_NAME}`;
  if (!name.isWellFormed()) return `contains a name with a lone surrogate. ${VALID_NAME}`;
  return undefined;
}

function isShowable(name: string): boolean {
  return fits(name, LONGEST_NAME) && name.isWellFormed();
}

type Skip = (value: unknown) => boolean;

function sectionsFaults(value: unknown, skip: Skip): FieldError[] {
  if (!isObject(value)) return [{ pointer: '', detail: `must be an object of sections, ${EXAMPLE}` }];
  const sections = Object.entries(value).filter(([, section]) => !skip(section));
  if (sections.length > MOST_SECTIONS) {
    return [{ pointer: '', detail: `must have at most ${MOST_SECTIONS} sections, ${EXAMPLE}` }];
  }
  return sections.flatMap(([name, section]) => sectionFaults(pointerTo('', name), section, skip));
}

function sectionFaults(pointer: string, section: unknown, skip: Skip): FieldError[] {
  if (!isObject(section)) return [{ pointer, detail: `must be an object, ${SECTION_EXAMPLE}` }];
  const properties = Object.entries(section).filter(([, value]) => !skip(value));
  if (properties.length > MOST_PROPERTIES) {
    return [{ pointer, detail: `must have at most ${MOST_PROPERTIES} properties, ${SECTION_EXAMPLE}` }];
  }
  return properties
    .filter(([, value]) => !isTextOrBoolean(value))
    .map(([name]) => ({
      pointer: pointerTo(pointer, name),
      detail: `must be true, false or a string of at most ${LONGEST_TEXT} characters, such as "M"`,
    }));
}

function isTextOrBoolean(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'string' && fits(value, LONGEST_TEXT));
}

/** Maximum number of violated rules of a validator in an error. */
const MOST_NAMED = 20;
/**
 * Maximum length of a name in an error, in characters. Errors contain names and MongoDB's own words, never a value.
 */
const LONGEST = 200;
/** The prefix of the paths of stored fields, which the paths in bodies do not have. */
const DATA = 'data.';

/**
 * A rule of a validator that a member violates, and the stored field that violates it; `''` for the member itself.
 */
interface BrokenRule {
  field: string;
  rule: string;
}

/**
 * The faults that the validator of the collection finds in a member, from MongoDB's `errInfo.details`: each pair of a
 * field and a violated rule, once.
 */
export function validatorFaults(error: mongo.MongoServerError): FieldError[] {
  const details = (error.errInfo as { details?: unknown } | undefined)?.details;
  const broken = new Map<string, BrokenRule>();
  for (const one of brokenRules(details, '')) {
    const key = `${one.field} ${one.rule}`;
    if (broken.size < MOST_NAMED && !broken.has(key)) broken.set(key, one);
  }
  const found = broken.size > 0 ? [...broken.values()] : [{ field: '', rule: '' }];
  return found.map(({ field, rule }) => ({ pointer: pointerOf(field), detail: sentence(field, rule) }));
}

function sentence(field: string, rule: string): string {
  const what = field === '' ? 'The member' : `The stored field "${field.slice(0, LONGEST)}"`;
  const by = rule === '' ? '' : ` ("${rule.slice(0, LONGEST)}")`;
  return `${what} violates a rule of the validator of the collection "members"${by}. Send a value that the rule allows.`;
}

function pointerOf(field: string): string {
  return field.startsWith(DATA) ? field.slice(DATA.length).split('.').reduce(pointerTo, '') : '';
}

/** MongoDB reports violated rules as a tree: branches of operators, and of the properties of a schema. */
function brokenRules(node: unknown, path: string): BrokenRule[] {
  if (Array.isArray(node)) return node.flatMap((one) => brokenRules(one, path));
  if (typeof node !== 'object' || node === null) return [];
  const report = node as Record<string, unknown>;
  const rule = wordIn(report['operatorName']);
  const inside = [
    'details',
    'schemaRulesNotSatisfied',
    'schemaRulesSatisfied',
    'clausesNotSatisfied',
    'clausesSatisfied',
  ];
  const branches = inside.flatMap((name) => brokenRules(report[name], path));
  const properties = listIn(report['propertiesNotSatisfied']).flatMap((one) => {
    const { propertyName, details } = one as Record<string, unknown>;
    return brokenRules(details, joined(path, wordIn(propertyName)));
  });
  const named = ['missingProperties', 'additionalProperties'].flatMap((name) =>
    listIn(report[name]).map((property) => ({ field: joined(path, wordIn(property)), rule })),
  );
  const found = [...branches, ...properties, ...named];
  if (found.length > 0 || rule === '') return found;
  return fieldsIn(report['specifiedAs'], path).map((field) => ({ field, rule }));
}

/** A query operator names its field; a schema operator concerns the property that contains it. */
function fieldsIn(specified: unknown, path: string): string[] {
  if (path !== '' || typeof specified !== 'object' || specified === null) return [path];
  const names = Object.keys(specified).filter((name) => !name.startsWith('$'));
  return names.length > 0 ? names : [path];
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function wordIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
