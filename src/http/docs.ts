import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { describeBodies, describeLimit, nameUnions } from './docs-details.js';

const TAGS = {
  replication:
    'Feeds from which other programs keep copies: how far they can be read, what changed, and what is gone.',
  members: 'Making, changing and reading members.',
  administration:
    'Applications, services, credentials, and how the service does. For credentials of level `admin`.',
  operation: 'For load balancers and Prometheus, without credentials.',
};

/** The OpenAPI document of the application's routes, where pages have at most `limitMax` items. */
export function openApiDocument(app: INestApplication, limitMax: number): OpenAPIObject {
  const info = new DocumentBuilder()
    .setTitle('Tidemark')
    .setDescription('Replication feeds and member writes over MongoDB that lose no change.')
    .setVersion('1')
    .addServer('/', 'The service that this document comes from')
    .addBasicAuth();
  for (const [name, description] of Object.entries(TAGS)) info.addTag(name, description);
  const document = SwaggerModule.createDocument(app, info.build(), { operationIdFactory: byMethodName });
  describeLimit(document, limitMax);
  describeBodies(document);
  nameUnions(document);
  return document;
}

/** Generators make names of operation ids: they are those of the controllers' methods, of which each has a name of its own. */
function byMethodName(_controller: string, method: string): string {
  return method;
}

/** Serves the document at `/openapi.json` and a page to try it at `/docs`. */
export function serveDocs(app: INestApplication, limitMax: number): void {
  let known: OpenAPIObject | undefined;
  const document = () => (known ??= openApiDocument(app, limitMax));
  SwaggerModule.setup('docs', app, document, { raw: false });
  const { httpAdapter } = app.get(HttpAdapterHost);
  httpAdapter.get('/openapi.json', (_request: Request, response: Response) => response.json(document()));
}
