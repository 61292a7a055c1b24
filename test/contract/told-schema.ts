import type { mongo } from 'mongoose';
import { type Answer, eventually, type TestApplication } from '../support/index.js';
import { onceServed } from '../support/patience.js';

interface Property {
  type?: string | string[];
  format?: string;
  properties?: Record<string, Property>;
  items?: Property;
  additionalProperties?: Property;
  examples?: unknown[];
}

/** The schema of a service, as contract §9 has it. */
export interface ToldSchema extends Property {
  $schema: string;
  $id: string;
  'x-tidemark-version': number;
  'x-tidemark-records': { count: number; sample: boolean };
  'x-tidemark-changes': { version: number; path: string; change: string; from?: string[]; to?: string[] }[];
}

export function askSchema(
  app: TestApplication,
  name = 'default',
  kind = 'product',
  headers = {},
): Promise<Answer> {
  return onceServed(() => app.get(`${kind}/${name}/schema`, { headers }));
}

export async function schemaOf(
  app: TestApplication,
  name = 'default',
  kind = 'product',
): Promise<ToldSchema> {
  const answer = await askSchema(app, name, kind);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return JSON.parse(answer.text) as ToldSchema;
}

/** The properties of `data`. */
export function dataIn({ properties }: ToldSchema): Record<string, Property> {
  return properties!['data']!.properties ?? {};
}

export function storedSchema(app: TestApplication, name = 'default'): Promise<mongo.Document | null> {
  return app.service.db.collection('tidemark.schemas').findOne({ ...app.tenant, name });
}

/** Waits until the schema says something. */
export async function untilSchema(
  app: TestApplication,
  is: (schema: ToldSchema) => boolean,
  name = 'default',
): Promise<ToldSchema> {
  let schema: ToldSchema | undefined;
  await eventually(async () => is((schema = await schemaOf(app, name))));
  return schema!;
}
