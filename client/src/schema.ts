import { ConnectionError } from './http/connection-error.js';
import type { Sender } from './http/sender.js';
import type { CallOptions } from './options.js';
import type { Kind } from './shapes.js';

/** A JSON Schema (2020-12), as far as the service writes one (contract §9). */
export interface JsonSchema {
  type?: string | string[];
  format?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema;
  items?: JsonSchema;
  examples?: unknown[];
  /** The share of the objects around it that have the property. */
  'x-tidemark-share'?: number;
}

/** A change of a schema. */
export interface SchemaChange {
  version: number;
  at: string;
  /** `[]` stands for the elements of a list, and `*` for the values of a map. */
  path: string;
  change: 'appeared' | 'vanished' | 'type';
  from?: string[];
  to?: string[];
}

/** The schema of the items of a service, with its version and its last changes, newest first. */
export interface ServiceSchema extends JsonSchema {
  'x-tidemark-version': number;
  'x-tidemark-records': { count: number; sample: boolean };
  'x-tidemark-changes': SchemaChange[];
}

/** Asks for schemas; what is known already is not sent again (304). */
export class Schemas {
  private readonly known = new Map<string, { etag: string; schema: ServiceSchema }>();

  constructor(private readonly sender: Sender) {}

  async of(kind: Kind, service: string, { signal }: CallOptions): Promise<ServiceSchema> {
    const name = `${kind}/${service}`;
    const known = this.known.get(name);
    const answer = await this.sender.send<ServiceSchema>({
      method: 'GET',
      path: ['api/v1', kind, service, 'schema'],
      headers: { 'If-None-Match': known?.etag },
      signal,
    });
    if (answer.status === 304 && known !== undefined) return known.schema;
    assertSchema(answer.body);
    const etag = answer.headers.get('etag');
    if (etag !== null) this.known.set(name, { etag, schema: answer.body });
    return answer.body;
  }
}

/** A proxy may answer instead of the service. What type a number has is up to the `parse` of the caller. */
function assertSchema(body: Partial<ServiceSchema> | null | undefined): void {
  if (body?.['x-tidemark-version'] !== undefined) return;
  throw new ConnectionError('The answer is no schema of a service: it lacks x-tidemark-version.');
}
