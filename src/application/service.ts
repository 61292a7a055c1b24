import type { mongo } from 'mongoose';
import { NAME } from '../platform/common/index.js';
import { isKind, type Kind } from '../kinds/index.js';
import type { Tenant } from '../record/pure.js';
import type { ShownFields } from './shown-fields.js';

/** A document of `services`: a named filter of one application and kind (contract §4). */
export interface Service extends Tenant {
  kind: Kind;
  name: string;
  /** A MongoDB query document, matched against the record document. */
  filter: mongo.Document;
  description?: string;
  enabled?: boolean;
  /** The fields that its items show (contract §7). */
  fields?: Omit<ShownFields, 'hash'>;
  hash?: string[];
  /** The filter may name a field that is not shown. */
  allowHiddenFilter?: boolean;
  /** The schema of its items shows values (contract §9). */
  schemaExamples?: boolean;
}

/** Maximum number of services of an application. */
export const MOST_SERVICES = 1000;
/** Maximum size of an application's services together, in bytes of BSON. */
export const MOST_SERVICE_BYTES = 4 * 1024 * 1024;

/** A stored service that has not been validated: operators write this collection by hand. */
export type StoredService = { [field in keyof Service]?: unknown };

/**
 * The service that needs no registration and filters nothing. A document with this name can only choose its fields, which are
 * those of the channels too (contract §7).
 */
export const DEFAULT_SERVICE = 'default';

/** Names that a service with a filter cannot have, because they have another meaning in the paths. */
export const RESERVED_SERVICE_NAMES = [DEFAULT_SERVICE, 'max', 'harddeletes'];

/** Whether a service can be served under this name. */
export function isServiceName(name: unknown): name is string {
  return isName(name) && !RESERVED_SERVICE_NAMES.includes(name);
}

/** The key of a service. */
export type ServiceKey = Pick<Service, 'organizationid' | 'appid' | 'kind' | 'name'>;

/** Whether a stored service has a valid name, so that a path can address it. */
export function isNamed(service: StoredService): service is StoredService & ServiceKey {
  const { organizationid, appid, kind, name } = service;
  if (!isName(organizationid) || !isName(appid) || !isKind(kind)) return false;
  return isServiceName(name) || name === DEFAULT_SERVICE;
}

/**
 * A service is enabled if `enabled` is true or absent (contract §4). Any other value, such as the text "false",
 * disables it.
 */
export function isEnabled({ enabled }: { enabled?: unknown }): boolean {
  return enabled === true || enabled === undefined || enabled === null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}
