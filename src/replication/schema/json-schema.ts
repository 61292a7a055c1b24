import { type JsonType, type SeenField, type SeenItems, typesOf } from './seen.js';

/** A JSON Schema (2020-12), as far as this project writes one. */
export interface JsonSchema {
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema;
  items?: JsonSchema;
  examples?: unknown[];
  /** The share of the objects around it that have the property, from 0 to 1. */
  'x-tidemark-share'?: number;
}

/**
 * Which of the members beside `data` (contract §1) the items of a service have, as far as that depends on the kind or
 * on the fields that the service shows.
 */
export interface Frame {
  createdBy: 'shown' | 'absent';
  /** `text`: a keyed hash. */
  channels: 'list' | 'text' | 'absent';
  /** Whether every item has `channels`, if it is shown. */
  alwaysHasChannels: boolean;
}

const DATE_TIME: JsonSchema = { type: 'string', format: 'date-time' };
const TEXT: JsonSchema = { type: 'string' };
const CHANNELS: JsonSchema = { type: 'array', items: TEXT };

/** The properties of the items of `updates`, and which of them are in every item. */
export function itemSchema(frame: Frame, { data }: SeenItems, examples: Examples = new Map()): JsonSchema {
  const { createdBy, channels, alwaysHasChannels } = frame;
  const properties: Record<string, JsonSchema> = {
    ...{ id: TEXT, type: TEXT, createDate: DATE_TIME },
    ...(createdBy === 'shown' && { createdBy: TEXT }),
    ...{ lastupdated: DATE_TIME, data: { type: 'object', ...objectSchema(data, '', examples) } },
    ...(channels !== 'absent' && { channels: channels === 'list' ? CHANNELS : TEXT }),
  };
  const required = Object.keys(properties).filter((name) => name !== 'channels' || alwaysHasChannels);
  return { type: 'object', properties, required };
}

/** Values that a sample showed, by the path of their place in `data`, as {@link examplesIn} writes it. */
export type Examples = Map<string, unknown[]>;

const MOST_EXAMPLES = 3;
const LONGEST_EXAMPLE = 100;

/** Up to three different short values of each place. */
export function examplesIn(datas: unknown[]): Examples {
  const examples: Examples = new Map();
  for (const data of datas) collect(data, '', examples);
  return examples;
}

function collect(value: unknown, place: string, examples: Examples): void {
  if (Array.isArray(value)) {
    for (const element of value) collect(element, `${place}[]`, examples);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) collect(inner, inObject(place, name), examples);
  } else if (value !== null && JSON.stringify(value).length <= LONGEST_EXAMPLE) {
    const found = examples.get(place) ?? [];
    if (found.length < MOST_EXAMPLES && !found.includes(value)) examples.set(place, [...found, value]);
  }
}

function inObject(place: string, name: string): string {
  return `${place}.${JSON.stringify(name)}`;
}

function placeSchema(place: SeenField, at: string, examples: Examples): JsonSchema {
  const types = typesOf(place);
  const names = [...new Set(types.map(jsonTypeName))];
  const shown = examples.get(at);
  return {
    ...(names.length > 0 && { type: names.length === 1 ? names[0]! : names }),
    ...(types.includes('date-time') && { format: 'date-time' }),
    ...(types.includes('object') && objectSchema(place, at, examples)),
    ...(place.elements && { items: placeSchema(place.elements, `${at}[]`, examples) }),
    ...(shown && { examples: shown }),
  };
}

function objectSchema(place: SeenField, at: string, examples: Examples): JsonSchema {
  const objects = place.types.get('object')?.count ?? 0;
  const names = [...place.fields.keys()].sort();
  const properties = names.map((name): [string, JsonSchema] => {
    const field = place.fields.get(name)!;
    const schema = placeSchema(field, inObject(at, name), examples);
    return [name, { ...schema, 'x-tidemark-share': shareOf(field.count, objects) }];
  });
  return {
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    // The names of these members are data, so their values are not shown as examples either. A member that is left out may be
    // of any type.
    ...(place.values &&
      place.isPartial !== true && { additionalProperties: placeSchema(place.values, '*', new Map()) }),
  };
}

const DIGITS = 1000;

/** Rounded to three decimals, but never to 0 for something that was seen. */
function shareOf(count: number, objects: number): number {
  const share = Math.round((count / Math.max(1, objects)) * DIGITS) / DIGITS;
  return Math.min(1, Math.max(1 / DIGITS, share));
}

function jsonTypeName(type: JsonType): string {
  return type === 'date-time' ? 'string' : type;
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const INDENT = '  ';

/** A TypeScript module with an interface for what a schema describes. `name` is that of the interface. */
export function typeScriptOf(schema: JsonSchema, name: string, about: string): string {
  return `/** ${about.replaceAll('*/', '* /')} */\nexport interface ${name} ${objectType(schema, '')}\n`;
}

/** The name of an interface for the items of a service: `ProductErpItem`. */
export function interfaceName(kind: string, service: string): string {
  const words = `${kind} ${service} item`.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

function typeOf(schema: JsonSchema, indent: string): string {
  const names = [schema.type ?? []].flat();
  if (names.length === 0) return 'unknown';
  const types = names.map((name) => {
    if (name === 'integer') return 'number';
    if (name === 'array') return listType(schema, indent);
    return name === 'object' ? objectType(schema, indent) : name;
  });
  return [...new Set(types)].join(' | ');
}

function listType({ items = {} }: JsonSchema, indent: string): string {
  const type = typeOf(items, indent);
  return /^\w+$/.test(type) ? `${type}[]` : `Array<${type}>`;
}

function objectType(schema: JsonSchema, indent: string): string {
  const { properties = {}, required = [], additionalProperties } = schema;
  const inner = `${indent}${INDENT}`;
  const lines = Object.entries(properties).map(([name, property]) => {
    const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
    return `${inner}${key}${required.includes(name) ? '' : '?'}: ${typeOf(property, inner)};`;
  });
  if (additionalProperties !== undefined) {
    // In TypeScript, the type of an index signature must include the types of the named properties.
    const type = lines.length === 0 ? typeOf(additionalProperties, inner) : 'unknown';
    lines.push(`${inner}[name: string]: ${type};`);
  }
  return lines.length === 0 ? 'Record<string, unknown>' : `{\n${lines.join('\n')}\n${indent}}`;
}
