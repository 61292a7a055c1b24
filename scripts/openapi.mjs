/** `npm run -s openapi`: writes the OpenAPI document for tools that make clients of it. Needs no database. */
import 'reflect-metadata';
import { getConnectionToken } from '@nestjs/mongoose';
import { createApp } from '../dist/app.js';
import { readSettings } from '../dist/platform/config/index.js';
import { openApiDocument } from '../dist/platform/http/index.js';

/** There is none, and that it cannot be reached is no fault. */
const nowhere = 'mongodb://127.0.0.1:1/nowhere';

const settings = readSettings({ LOG_LEVEL: 'silent', DOCS: 'off', CONSOLE: 'off' });
const app = await createApp(settings, nowhere);
app
  .get(getConnectionToken())
  .asPromise()
  .catch(() => undefined);
const text = `${JSON.stringify(openApiDocument(app, settings.limitMax), null, 2)}\n`;
process.stdout.write(text, () => process.exit());
