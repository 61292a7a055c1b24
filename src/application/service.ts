import type { mongo } from 'mongoose';
import { NAME } from '../common/index.js';
import { type Kind, KINDS, type Tenant } from '../record/pure.js';

/** A document of `services`: a named filter of one application and kind (contract §4). */
export interface Service extends Tenant {
  kind: Kind;
  name: string;
  /** A MongoDB query document, matched against the record document. */
  filter: mongo.Document;
  description?: string;
  enabled?: boolean;
}

/** The most services that an application may have. */
export const MOST_SERVICES = 1000;
/** The most bytes of BSON that they may take together. */
export const MOST_SERVICE_BYTES = 4 * 1024 * 1024;

/** A stored service that has not been validated: operators write this collection by hand. */
export type StoredService = { [field in keyof Service]?: unknown };

/** Names that a service cannot have: they mean something in the paths already. */
export const RESERVED_SERVICE_NAMES = ['default', 'max', 'harddeletes'];

/** Whether a service can be served under this name. */
export function isServiceName(name: unknown): name is string {
  return isName(name) && !RESERVED_SERVICE_NAMES.includes(name);
}

/** What names a service. */
export type ServiceKey = Pick<Service, 'organizationid' | 'appid' | 'kind' | 'name'>;

/** Whether a stored service is named so that a path can lead to it. */
export function isNamed(service: StoredService): service is StoredService & ServiceKey {
  const { organizationid, appid, kind, name } = service;
  return isName(organizationid) && isName(appid) && KINDS.includes(kind as Kind) && isServiceName(name);
}

/** Anything but true or nothing is off (contract §4): a text such as "false" was never meant to be on. */
export function isEnabled({ enabled }: { enabled?: unknown }): boolean {
  return enabled === true || enabled === undefined || enabled === null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}
