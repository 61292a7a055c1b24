import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';

/** Where the paths of applications begin; others have limits of their own. */
const IN_APPLICATION = '/{org}/';

interface Parameter {
  name: string;
  schema?: { maximum?: number; default?: unknown };
}

interface Shape {
  title?: string;
  oneOf?: unknown[];
  items?: Shape | { $ref: string };
  properties?: Record<string, Shape>;
}

interface Operation {
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: { $ref?: string } }> };
}

/** The configured limit of items per page, which decorators cannot know. */
export function describeLimit(document: OpenAPIObject, limitMax: number): void {
  const parameters = operationsOf(document, IN_APPLICATION).flatMap(
    (operation) => operation.parameters ?? [],
  );
  for (const { name, schema } of parameters) {
    if (name !== 'limit' || schema === undefined) continue;
    schema.maximum = limitMax;
    schema.default = Math.min(Number(schema.default), limitMax);
  }
}

/** What the decorators cannot say: bodies have no properties but those that are named. */
export function describeBodies(document: OpenAPIObject): void {
  const references = operationsOf(document)
    .flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}))
    .map(({ schema }) => schema?.$ref?.split('/').at(-1));
  for (const name of references) {
    const schema = document.components?.schemas?.[name ?? ''];
    if (schema !== undefined) Object.assign(schema, { additionalProperties: false });
  }
}

/** What the decorators cannot do: items of several shapes are a schema of their own, so that generators can name it. */
export function nameUnions({ components }: OpenAPIObject): void {
  const schemas = (components?.schemas ?? {}) as Record<string, Shape>;
  const properties = Object.values(schemas).flatMap((schema) => Object.values(schema.properties ?? {}));
  for (const property of properties) {
    const { items } = property;
    if (items === undefined || '$ref' in items || items.oneOf === undefined || items.title === undefined)
      continue;
    schemas[items.title] = items;
    property.items = { $ref: getSchemaPath(items.title) };
  }
}

function operationsOf({ paths }: OpenAPIObject, below = '/'): Operation[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(below))
    .flatMap(([, methods]) => Object.values(methods) as Operation[]);
}
