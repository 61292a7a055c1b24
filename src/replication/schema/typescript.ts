import type { JsonSchema } from './json-schema.js';

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
    // The values of an index signature include those of the named properties.
    const type = lines.length === 0 ? typeOf(additionalProperties, inner) : 'unknown';
    lines.push(`${inner}[name: string]: ${type};`);
  }
  return lines.length === 0 ? 'Record<string, unknown>' : `{\n${lines.join('\n')}\n${indent}}`;
}
