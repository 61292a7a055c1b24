/**
 * Prints what others depend on, one line each: settings, commands, metrics, collections and indexes, and the operations of the
 * OpenAPI document. `--write` stores it as the interface of the last release, `docs/interface.txt`, which a test compares with
 * what there is. Needs no database.
 */
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { getConnectionToken } from '@nestjs/mongoose';
import { commands } from '../dist/administration/cli/commands/index.js';
import { createApp } from '../dist/app.js';
import { readSettings, settingTable } from '../dist/platform/config/index.js';
import { openApiDocument } from '../dist/platform/http/index.js';
import { Metrics } from '../dist/platform/observability/index.js';
import { STORAGE_FORMATS } from '../dist/replication/store/index.js';

const file = 'docs/interface.txt';
const nowhere = 'mongodb://127.0.0.1:1/nowhere';

const settings = readSettings({ LOG_LEVEL: 'silent', DOCS: 'off', CONSOLE: 'off' });
const app = await createApp(settings, nowhere);
const connection = app.get(getConnectionToken());
connection.asPromise().catch(() => undefined);

const lines = [
  ...Object.values(settingTable).map(({ env, type }) => `setting ${env} ${type}`),
  ...commands.flatMap(({ name, options, argument }) => [
    `command ${name}${argument === undefined ? '' : ` ${argument}`}`,
    ...Object.entries(options).map(
      ([option, { value, required }]) =>
        `command ${name} --${option}${value === undefined ? '' : ` ${value}`}${required ? ' required' : ''}`,
    ),
  ]),
  ...app
    .get(Metrics, { strict: false })
    .registry.getMetricsAsArray()
    .map(
      ({ name, type, labelNames }) => `metric ${name}{${[...(labelNames ?? [])].sort().join(',')}} ${type}`,
    ),
  ...Object.values(connection.models).flatMap(({ collection, schema }) => [
    `collection ${collection.collectionName}`,
    ...schema.indexes().map(([keys, options]) => {
      const { unique = false, partialFilterExpression } = options;
      const only = partialFilterExpression && ` where ${JSON.stringify(partialFilterExpression)}`;
      return `index ${collection.collectionName} ${JSON.stringify(keys)}${unique ? ' unique' : ''}${only ?? ''}`;
    }),
  ]),
  `storage format ${STORAGE_FORMATS.newest}`,
  ...operations(openApiDocument(app, settings.limitMax)),
];
const text = `${[...new Set(lines)].sort().join('\n')}\n`;
if (process.argv.includes('--write')) writeFileSync(file, text);
process.stdout.write(text, () => process.exit());

/** Operations with their parameters and answers, and the properties of each schema. */
function operations({ paths, components }) {
  const found = [];
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId, parameters = [], responses }] of Object.entries(methods)) {
      const operation = `${method.toUpperCase()} ${path}`;
      found.push(`operation ${operation} ${operationId ?? ''}`.trimEnd());
      for (const { name, in: place, required } of parameters)
        found.push(`parameter ${operation} ${place} ${name}${required ? ' required' : ''}`);
      for (const status of Object.keys(responses)) found.push(`answer ${operation} ${status}`);
    }
  for (const [name, { properties = {}, required = [] }] of Object.entries(components.schemas))
    for (const property of Object.keys(properties))
      found.push(`property ${name}.${property}${required.includes(property) ? '' : ' optional'}`);
  return found;
}
