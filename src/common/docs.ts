import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

/** The OpenAPI document of the application's routes. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const info = new DocumentBuilder()
    .setTitle('Tidemark')
    .setDescription('Replication feeds and member writes over MongoDB that lose no change.')
    .setVersion('1')
    .addBasicAuth()
    .build();
  return SwaggerModule.createDocument(app, info);
}

/** Serves the document at `/openapi.json` and a page to try it at `/docs`. */
export function serveDocs(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
  });
}
