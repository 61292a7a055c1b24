import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { INVALID_BODY } from './openapi.js';

/** A request and its answer, by `operationId`. An answer without a body has none. */
interface Example {
  operation: string;
  parameters?: Record<string, string>;
  body?: object;
  answer?: unknown;
}

type Contents = Record<string, { example?: unknown }>;

interface Operation {
  operationId: string;
  parameters?: { name: string; example?: unknown }[];
  requestBody?: { content: Contents };
  responses: Record<string, { content?: Contents }>;
}

/**
 * Adds the examples of `page/examples.json` to the operations of a document. They are one story, in the order in which the
 * requests succeed; a test sends them all, and compares the answers.
 */
export function addExamples({ paths }: OpenAPIObject, folder: string): void {
  const examples = JSON.parse(readFileSync(join(folder, 'examples.json'), 'utf8')) as Example[];
  const byOperation = new Map(examples.map((example) => [example.operation, example]));
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods) as Operation[])) {
    const { parameters = {}, body, answer } = byOperation.get(operation.operationId) ?? {};
    for (const parameter of operation.parameters ?? [])
      if (parameter.name in parameters) parameter.example = parameters[parameter.name];
    illustrate(operation.requestBody?.content, body);
    if (operation.requestBody !== undefined) illustrate(operation.responses['400']?.content, INVALID_BODY);
    const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [];
    illustrate(success?.content, answer);
  }
}

/** The first media type is the one that a request without `Accept` gets. */
function illustrate(contents: Contents | undefined, example: unknown): void {
  const [content] = Object.values(contents ?? {});
  if (content !== undefined && example !== undefined) content.example = example;
}
