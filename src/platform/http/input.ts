import { atOnce, fits, type Parsed, parseDate, shown, type Steps } from '../common/index.js';
import type { FieldError, InputError } from './problem.js';
import { problems } from './problems.js';

/** Maximum number of errors that are reported for one body. */
export const MOST_FAULTS = 20;
/** Maximum length of a property name in an error, in characters; only the beginning of a longer name is shown. */
export const LONGEST_NAME = 1000;

/** A property of a body: how to read it, and its schema in the OpenAPI document. */
export interface Field<T> {
  schema: Record<string, unknown>;
  /** The error if the property is not sent; undefined if it may be omitted. */
  missing: string | undefined;
  /** Returns the value, or its faults: one sentence, or one for each invalid place within the value. */
  read(value: unknown): ReadValue<T>;
  /** Like `read`, but in steps, for values with many parts. */
  readInSteps?(value: unknown): Steps<ReadValue<T>>;
}

/** The result of reading a value. */
export type ReadValue<T> = { value: T } | { fault: string } | { faults: FieldError[] };

export type Fields = Record<string, Field<unknown>>;

/** The object that the fields describe. Properties that were not sent are undefined. */
export type Shaped<F extends Fields> = { [name in keyof F]: F[name] extends Field<infer T> ? T : never };

type Shape<F extends Fields> = { value: Shaped<F> } | { faults: FieldError[] };

/** Reads a body; throws a 400 that names each wrong property, at most {@link MOST_FAULTS} (contract §3). */
export function* shaped<F extends Fields>(fields: F, body: object): Steps<Shaped<F>> {
  const found = yield* shapeInSteps(fields, body);
  if ('faults' in found) throw problems.invalidRequest(found.faults.slice(0, MOST_FAULTS));
  return found.value;
}

/** The JSON pointer (RFC 6901) of a child. */
export function pointerTo(parent: string, name: string | number): string {
  return `${parent}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The names in a JSON pointer, from the outermost on. */
export function namesIn(pointer: string): string[] {
  const names = pointer.split('/').slice(1);
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns why the properties of an object are not valid in combination; undefined if they are. */
type FaultOf<F extends Fields> = (value: Shaped<F>) => FieldError | undefined;

/** Reads an object by its fields. Returns the values, or the faults of all properties. */
export function* shapeInSteps<F extends Fields>(
  fields: F,
  body: object,
  faultOf: FaultOf<F> = () => undefined,
): Steps<Shape<F>> {
  const errors: FieldError[] = Object.keys(body)
    .filter((name) => !Object.hasOwn(fields, name))
    .slice(0, MOST_FAULTS)
    .map((name) => ({
      pointer: pointerTo('', fits(name, LONGEST_NAME) ? name.toWellFormed() : shown(name)),
      detail: `is an unknown property. Known properties: ${knownIn(fields)}.`,
    }));
  const values: [string, unknown][] = [];
  for (const [name, field] of Object.entries(fields)) {
    const sent = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
    const found = yield* readField(field, sent);
    values.push([name, 'value' in found ? found.value : undefined]);
    if ('value' in found) continue;
    const faults = 'faults' in found ? found.faults : [{ pointer: '', detail: found.fault }];
    errors.push(...faults.map((fault) => prefixed(name, fault)));
  }
  if (errors.length > 0) return { faults: errors };
  const value = Object.fromEntries(values) as Shaped<F>;
  const fault = faultOf(value);
  return fault === undefined ? { value } : { faults: [fault] };
}

function* readField(field: Field<unknown>, sent: unknown): Steps<ReadValue<unknown>> {
  if (sent === undefined)
    return field.missing === undefined ? { value: undefined } : { fault: field.missing };
  return field.readInSteps === undefined ? field.read(sent) : yield* field.readInSteps(sent);
}

/** Prefixes the pointer of a fault with the name of the enclosing property or the index in a list. */
function prefixed(name: string | number, { pointer, detail }: FieldError): FieldError {
  return { pointer: `/${name}${pointer}`, detail };
}

/** The JSON schema of a body. */
export function schemaOf(fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields);
  const required = entries.filter(([, { missing }]) => missing !== undefined).map(([name]) => name);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}

/** Makes a field required; `missing` is the error if it is not sent. */
export function required<T>(field: Field<T | undefined>, missing = 'is missing.'): Field<T> {
  return { ...(field as Field<T>), missing };
}

/** Makes a field nullable; null removes the stored value. */
export function removable<T>(field: Field<T | undefined>): Field<T | null | undefined> {
  return alsoTaking(field, (value) => value === null);
}

/** Also accepts the values for which `isTaken` is true, as they are. Null must be one: the schema becomes nullable. */
export function alsoTaking<T, V>(
  field: Field<T | undefined>,
  isTaken: (value: unknown) => value is V,
): Field<T | V | undefined> {
  // Without `readInSteps`, which would take precedence over `read` and refuse these values.
  return {
    missing: field.missing,
    schema: { ...field.schema, nullable: true },
    read: (value) => (isTaken(value) ? { value } : field.read(value)),
  };
}

/** A string field. `faultOf` returns why a string is not valid. */
export function text(
  faultOf: (text: string) => string | undefined,
  schema: Record<string, unknown>,
): Field<string | undefined> {
  return optional({ type: 'string', ...schema }, (value) => {
    if (typeof value !== 'string' || !value.isWellFormed()) {
      return { fault: `is not a string, such as ${JSON.stringify(schema['example'])}.` };
    }
    const fault = faultOf(value);
    return fault === undefined ? { value } : { fault };
  });
}

export function flag(): Field<boolean | undefined> {
  return optional({ type: 'boolean' }, (value) =>
    typeof value === 'boolean' ? { value } : { fault: 'is not true or false.' },
  );
}

export function oneOf<C extends string>(choices: readonly C[]): Field<C | undefined> {
  return optional({ type: 'string', enum: [...choices] }, (value) => {
    const choice = choices.find((one) => one === value);
    return choice === undefined ? { fault: `is not one of ${choices.join(', ')}.` } : { value: choice };
  });
}

export function date(): Field<Date | undefined> {
  return optional({ type: 'string', format: 'date-time', example: '2027-01-31T18:00:00Z' }, (value) => {
    const parsed = parseDate(typeof value === 'string' ? value : '');
    return 'value' in parsed ? parsed : { fault: parsed.error };
  });
}

/** A list of at most `most` objects. Reports at most {@link MOST_FAULTS} faults. */
export function listOf<F extends Fields>(
  fields: F,
  most: number,
  faultOf?: FaultOf<F>,
): Field<Shaped<F>[] | undefined> {
  const fault = `is not a list of at most ${most} objects with ${knownIn(fields)}.`;
  function* readInSteps(value: unknown): Steps<ReadValue<Shaped<F>[]>> {
    if (!Array.isArray(value) || value.length > most) return { fault };
    const items: Shaped<F>[] = [];
    const faults: FieldError[] = [];
    for (const [index, one] of value.entries()) {
      const found = isObject(one)
        ? yield* shapeInSteps(fields, one, faultOf)
        : { faults: [{ pointer: '', detail: 'is not an object.' }] };
      if ('value' in found) items.push(found.value);
      else faults.push(...found.faults.map((each) => prefixed(index, each)));
      if (faults.length >= MOST_FAULTS) break;
      yield;
    }
    return faults.length > 0 ? { faults: faults.slice(0, MOST_FAULTS) } : { value: items };
  }
  return inSteps({ type: 'array', maxItems: most, items: schemaOf(fields) }, readInSteps);
}

export function optional<T>(schema: Record<string, unknown>, read: Field<T>['read']): Field<T | undefined> {
  return { schema, missing: undefined, read };
}

/** An optional field whose reader works in steps. */
export function inSteps<T>(
  schema: Record<string, unknown>,
  readInSteps: (value: unknown) => Steps<ReadValue<T>>,
): Field<T | undefined> {
  return { ...optional(schema, (value) => atOnce(readInSteps(value))), readInSteps };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function knownIn(fields: Fields): string {
  return Object.keys(fields).join(', ');
}

/**
 * Parses a parameter. Returns undefined if it was not sent, or if it is not valid; the latter is an error. `missing` is
 * the error if a required one was not sent.
 */
export type ParameterReader = <T>(
  parameter: string,
  parse: (text: string) => Parsed<T>,
  missing?: string,
) => T | undefined;

/**
 * Parses the parameters of a query string. Throws a 400 with one error for each invalid parameter (contract §3), each
 * error that `parse` adds to the list, and last one for each missing parameter.
 */
export function readParameters<T>(
  query: Record<string, unknown>,
  parse: (read: ParameterReader, errors: InputError[]) => T,
): T {
  const errors: InputError[] = [];
  const missing: InputError[] = [];
  const read: ParameterReader = (parameter, parseText, ifMissing) => {
    const text = query[parameter];
    if (text === undefined) {
      if (ifMissing !== undefined) missing.push({ parameter, detail: ifMissing });
      return undefined;
    }
    const found =
      typeof text === 'string' ? parseText(text) : { error: 'is given more than once. Send it once.' };
    if ('value' in found) return found.value;
    errors.push({ parameter, detail: found.error });
    return undefined;
  };
  const parsed = parse(read, errors);
  errors.push(...missing);
  if (errors.length > 0) throw problems.invalidRequest(errors);
  return parsed;
}

/** Parses a parameter that is `true` or `false`. */
export function parseFlag(text: string): Parsed<boolean> {
  return text === 'true' || text === 'false'
    ? { value: text === 'true' }
    : { error: `"${shown(text)}" is not valid. Send true or false.` };
}
