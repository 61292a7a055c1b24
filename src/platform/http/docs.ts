import { readFileSync } from 'node:fs';
import { join, extname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type OpenAPIObject, DocumentBuilder, getSchemaPath, SwaggerModule } from '@nestjs/swagger';
import { awayExample, INVALID_BODY } from './openapi.js';
import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Request, Response } from 'express';
import { capitalized } from '../common/index.js';
import { thisBuild } from '../config/pure.js';
import { serveBytes } from './answer.js';

const TAGS = {
  replication:
    'Feeds from which other programs keep copies: how far they can be read, what changed, and what is gone.',
  members: 'Making, changing and reading members.',
  administration:
    'Applications, services, credentials, and the state of Tidemark itself. For credentials of level `admin`.',
  operation: 'For load balancers and Prometheus, without credentials.',
};

/** Files of the page, and of `swagger-ui-dist`: `npm run build` copies them (scripts/build-assets.mjs). */
const FOLDER = join(import.meta.dirname, 'swagger-ui');
const FILES = ['icon.svg', 'palette.css', 'look.css', 'start.js', 'swagger-ui.css', 'swagger-ui-bundle.js'];

/** All addresses are relative, so that the page also works below a proxy's path prefix. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Tidemark API</title>
    <link rel="icon" type="image/svg+xml" href="docs/icon.svg" />
    <link rel="stylesheet" href="docs/look.css" />
  </head>
  <body>
    <header class="top">
      <a class="brand" href=".">Tidemark</a>
      <a href="openapi.json">OpenAPI document</a>
    </header>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** Prefix of the paths of applications. Other paths have their own limits. */
const IN_APPLICATION = '/{org}/';

/** The OpenAPI document of the application's routes, where pages have at most `limitMax` items. */
export function openApiDocument(
  app: INestApplication,
  limitMax: number,
  isServed: (path: string) => boolean = () => true,
): OpenAPIObject {
  const info = new DocumentBuilder()
    .setTitle('Tidemark')
    .setDescription('Replication feeds and member writes over MongoDB that lose no change.')
    .setVersion(thisBuild().version)
    // Relative to the document, so that it also leads to the service below a proxy's path prefix.
    .addServer('.', 'The service that this document comes from')
    .addBasicAuth();
  for (const [name, description] of Object.entries(TAGS)) info.addTag(name, description);
  const document = SwaggerModule.createDocument(app, info.build(), { operationIdFactory: byMethodName });
  document.paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => isServed(path)));
  describeLimit(document, limitMax);
  nameSchemas(document);
  addExamples(document, FOLDER);
  return document;
}

/** A kind of records that an operator has created. */
interface DocumentedKind {
  name: string;
  /** The word for several records. */
  plural: string;
}

/** What the OpenAPI document depends on besides the routes. */
interface Documented {
  limitMax: number;
  isServed?: (path: string) => boolean;
  /** The kinds that this deployment has beside the built-in ones. */
  createdKinds: () => DocumentedKind[];
}

/**
 * Serves the OpenAPI document at `/openapi.json` and a page to try its requests at `/docs`. The document has the paths
 * of every kind that this deployment has at the time of the request (contract §8).
 */
export function serveDocs(app: INestApplication, { limitMax, isServed, createdKinds }: Documented): void {
  let known: OpenAPIObject | undefined;
  let made: { of: string; document: OpenAPIObject } | undefined;
  const document = () => {
    const kinds = createdKinds();
    const of = JSON.stringify(kinds);
    known ??= openApiDocument(app, limitMax, isServed);
    if (made?.of !== of) made = { of, document: withKinds(known, kinds) };
    return made.document;
  };
  serveBytes(app, '/docs', { type: '.html', read: () => PAGE });
  for (const file of FILES)
    serveBytes(app, `/docs/${file}`, { type: extname(file), read: () => readFileSync(join(FOLDER, file)) });
  const { httpAdapter } = app.get(HttpAdapterHost);
  httpAdapter.get('/openapi.json', (_request: Request, response: Response) => response.json(document()));
}

/** A built-in kind. The paths of created kinds are made from its paths, because all kinds have the same ones. */
const MODEL = { name: 'product', path: '/api/v1/product/', words: /\bproducts\b/g, ids: 'Product' };

function withKinds(document: OpenAPIObject, kinds: DocumentedKind[]): OpenAPIObject {
  const paths = Object.entries(document.paths).filter(([path]) => path.includes(MODEL.path));
  const added = kinds.flatMap(({ name, plural }) =>
    paths.map(([path, methods]) => {
      const text = JSON.stringify(methods, (key, value: unknown) => {
        if (typeof value !== 'string') return value;
        if (key === 'operationId') return value.replace(MODEL.ids, pascal(name));
        if (key === 'summary' || key === 'description') return value.replaceAll(MODEL.words, plural);
        return key === 'type' && value === MODEL.name ? name : value;
      });
      return [path.replace(MODEL.path, `/api/v1/${name}/`), JSON.parse(text) as typeof methods] as const;
    }),
  );
  return { ...document, paths: { ...document.paths, ...Object.fromEntries(added) } };
}

/** A name as a part of an operation id: `SalesOrder` of "sales-order". */
function pascal(name: string): string {
  return name.split('-').map(capitalized).join('');
}

/**
 * Code generators derive names from operation ids. An operation without an explicit id gets the name of its
 * controller's method. Controllers that are made for each kind set an id explicitly, because their methods share names.
 */
function byMethodName(_controller: string, method: string): string {
  return method;
}

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
  requestBody?: { content?: Record<string, { schema?: Shape | { $ref: string } }> };
}

/** Sets the configured limit of items per page, which decorators cannot know. */
function describeLimit(document: OpenAPIObject, limitMax: number): void {
  const parameters = operationsOf(document, IN_APPLICATION).flatMap(
    (operation) => operation.parameters ?? [],
  );
  for (const { name, schema } of parameters) {
    if (name !== 'limit' || schema === undefined) continue;
    schema.maximum = limitMax;
    schema.default = Math.min(Number(schema.default), limitMax);
  }
}

type NamedShapes = Record<string, Shape>;

/** Moves each body with a title, and each union of item shapes, to a named schema, so that generators can name it. */
export function nameSchemas(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as NamedShapes;
  nameBodies(document, schemas);
  nameUnions(schemas);
}

function nameBodies(document: OpenAPIObject, schemas: NamedShapes): void {
  const contents = operationsOf(document).flatMap(({ requestBody }) =>
    Object.values(requestBody?.content ?? {}),
  );
  for (const content of contents) {
    const { schema } = content;
    if (schema === undefined || '$ref' in schema || schema.title === undefined) continue;
    const { title, ...shape } = schema;
    put(schemas, title, shape);
    content.schema = { $ref: getSchemaPath(title) };
  }
}

/** Decorators cannot name a union. */
function nameUnions(schemas: NamedShapes): void {
  const properties = Object.values(schemas).flatMap((schema) => Object.values(schema.properties ?? {}));
  for (const property of properties) {
    const { items } = property;
    if (items === undefined || '$ref' in items || items.oneOf === undefined || items.title === undefined)
      continue;
    put(schemas, items.title, items);
    property.items = { $ref: getSchemaPath(items.title) };
  }
}

/** Throws if another schema has the name: clients that are generated from the document would have a wrong type. */
function put(schemas: NamedShapes, name: string, shape: Shape): void {
  if (Object.hasOwn(schemas, name) && !isDeepStrictEqual(schemas[name], shape))
    throw new Error(`Two schemas of the OpenAPI document have the name "${name}".`);
  schemas[name] = shape;
}

function operationsOf({ paths }: OpenAPIObject, below = '/'): Operation[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(below))
    .flatMap(([, methods]) => Object.values(methods) as Operation[]);
}

/** A request and its answer, by `operationId`. `answer` is absent if the answer has no body. */
interface Example {
  operation: string;
  parameters?: Record<string, string>;
  body?: object;
  answer?: unknown;
}

type Contents = Record<string, { example?: unknown }>;

interface DescribedOperation {
  operationId: string;
  parameters?: { name: string; example?: unknown }[];
  requestBody?: { content: Contents };
  responses: Record<string, { content?: Contents }>;
}

/**
 * Adds the examples of `page/examples.json` to the operations of a document. They are one story, in the order in which
 * the requests succeed; a test sends them all, and compares the answers.
 */
function addExamples({ paths }: OpenAPIObject, folder: string): void {
  const examples = JSON.parse(readFileSync(join(folder, 'examples.json'), 'utf8')) as Example[];
  const byOperation = new Map(examples.map((example) => [example.operation, example]));
  for (const [method, operation] of Object.values(paths).flatMap(
    (methods) => Object.entries(methods) as [string, DescribedOperation][],
  )) {
    const { parameters = {}, body, answer } = byOperation.get(operation.operationId) ?? {};
    for (const parameter of operation.parameters ?? [])
      if (parameter.name in parameters) parameter.example = parameters[parameter.name];
    illustrate(operation.requestBody?.content, body);
    if (operation.requestBody !== undefined) illustrate(operation.responses['400']?.content, INVALID_BODY);
    illustrate(operation.responses['503']?.content, awayExample(method));
    const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [];
    illustrate(success?.content, answer);
  }
}

/** The first media type is the one that a request without `Accept` gets. */
function illustrate(contents: Contents | undefined, example: unknown): void {
  const [content] = Object.values(contents ?? {});
  if (content !== undefined && example !== undefined) content.example = example;
}
