import type { mongo } from 'mongoose';
import type { ServiceKey } from '../../application/plain.js';
import { type Examples, itemSchema, type JsonSchema } from './json-schema.js';
import { type SeenItems, seenIn } from './seen.js';
import { frameOf, isSameVersion, type ServedService, servedVersion } from './served.js';
import { readStored } from './stored-schemas.js';
import type { StoredSchema, ToldChange } from './stored-schema.schema.js';

/** What is known of the items of a service, for the version of it that is in force. */
export interface CurrentSchema {
  served: ServedService;
  stored: StoredSchema;
  seen: SeenItems;
}

/**
 * Undefined if the service is not served; `missing` if there is no sample of the version in force, such as after an edit. A
 * sample of another version is never returned, because it may name a field that is hidden now.
 */
export async function knownSchema(
  db: mongo.Db,
  key: ServiceKey,
): Promise<CurrentSchema | 'missing' | undefined> {
  // In this order: if the service is edited in between, the version of the sample is the older one.
  const stored = await readStored(db, key);
  const served = await servedVersion(db, key);
  if (served === undefined) return undefined;
  if (stored === null || !isSameVersion(stored.of, served.of)) return 'missing';
  const seen = seenIn(stored.seen);
  return seen === undefined ? 'missing' : { served, stored, seen };
}

/** The JSON Schema of the items of a service, with its version and its last changes. */
export interface ServiceSchema extends JsonSchema {
  $schema: string;
  $id: string;
  title: string;
  /** Grows by one with every change of the schema. */
  'x-tidemark-version': number;
  /** How many records it is from: all of the service, or a sample. */
  'x-tidemark-records': { count: number; sample: boolean };
  /** The last changes, newest first. */
  'x-tidemark-changes': ToldChange[];
}

/** The schema as the endpoint and the commands show it. */
export function serviceSchema({ served, stored, seen }: CurrentSchema, examples?: Examples): ServiceSchema {
  const { organizationid, appid, kind, name } = served.key;
  const { version, isWhole = false, changes = [] } = stored;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: ['urn:tidemark:schema', organizationid, appid, kind, name, version].join(':'),
    title: `Items of the ${kind} service ${name}`,
    'x-tidemark-version': version,
    'x-tidemark-records': { count: Math.round(seen.records), sample: !isWhole },
    'x-tidemark-changes': changes,
    ...itemSchema(frameOf(served), seen, examples),
  };
}
