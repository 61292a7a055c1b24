import type { OpenAPIObject } from '@nestjs/swagger';

interface Parameter {
  name: string;
  schema?: { maximum?: number; default?: unknown };
}

interface Operation {
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: { $ref?: string } }> };
}

/** What the decorators cannot know: a page has at most so many items here. */
export function describeLimit(document: OpenAPIObject, limitMax: number): void {
  const parameters = operationsOf(document).flatMap((operation) => operation.parameters ?? []);
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

function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap((path) => Object.values(path) as Operation[]);
}
