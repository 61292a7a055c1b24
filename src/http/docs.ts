import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { describeBodies, describeLimit } from './docs-details.js';

/** The OpenAPI document of the application's routes, where pages have at most `limitMax` items. */
export function openApiDocument(app: INestApplication, limitMax: number): OpenAPIObject {
  const info = new DocumentBuilder()
    .setTitle('Tidemark')
    .setDescription('Replication feeds and member writes over MongoDB that lose no change.')
    .setVersion('1')
    .addBasicAuth()
    .build();
  const document = SwaggerModule.createDocument(app, info);
  describeLimit(document, limitMax);
  describeBodies(document);
  return document;
}

/** Serves the document at `/openapi.json` and a page to try it at `/docs`. */
export function serveDocs(app: INestApplication, limitMax: number): void {
  let known: OpenAPIObject | undefined;
  const document = () => (known ??= openApiDocument(app, limitMax));
  SwaggerModule.setup('docs', app, document, { raw: false });
  const { httpAdapter } = app.get(HttpAdapterHost);
  httpAdapter.get('/openapi.json', (_request: Request, response: Response) => response.json(document()));
}
