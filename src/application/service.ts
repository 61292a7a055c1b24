import { calculateObjectSize } from 'bson';
import { shown, NAME } from '../platform/common/index.js';
import { FILTER_BYTES } from './filter.js';
import type { mongo } from 'mongoose';
import { isKind, type Kind } from '../kinds/index.js';
import type { Tenant } from '../record/pure.js';

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
 * The service that needs no registration and filters nothing. A document with this name can only choose the fields that
 * it shows. The channels show the same fields (contract §7).
 */
export const DEFAULT_SERVICE = 'default';

/** Names that a service with a filter cannot have, because they have another meaning in the paths. */
export const RESERVED_SERVICE_NAMES = [DEFAULT_SERVICE, 'max', 'harddeletes'];

/** Whether a service with a filter can have this name. */
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

/** Whether a stored service is off. Only `false` disables `default`; with any other value that is not valid, it delivers nothing. */
export function isOff({ name, enabled }: StoredService): boolean {
  return name === DEFAULT_SERVICE ? enabled === false : !isEnabled({ enabled });
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

/**
 * The fields that a service shows of its records, and those that it shows as a keyed hash (contract §7): `only` these paths, or
 * all `except` these. Paths are sorted and unique.
 */
export interface ShownFields {
  only?: string[];
  except?: string[];
  hash?: string[];
}

/** The properties of a stored service that choose its fields. They can have any value: operators write them by hand. */
export interface StoredFields {
  fields?: unknown;
  hash?: unknown;
  allowHiddenFilter?: unknown;
  schemaExamples?: unknown;
}

/** Why a property is not valid: its JSON pointer, and the rest of a sentence whose subject is the property. */
interface ShownFieldsFault {
  pointer: string;
  detail: string;
}

const MOST_PATHS = 200;
const MOST_PARTS = 10;
/** Fields of items that cannot be left out, because consumers need them to maintain a copy. */
const STAYING = ['_id', 'id', 'type', 'createDate', 'lastupdated', 'op', 'reason'];
const WHOLE_FIELDS = ['createdBy', 'channels'];
const LISTS = ['only', 'except'];
const EXAMPLE = '{"except": ["data.email"]}';

/** Why these properties are not valid (contract §7); undefined if they are. */
export function shownFieldsFault(stored: StoredFields): ShownFieldsFault | undefined {
  const { fields, hash } = stored;
  return (
    (isAbsent(fields) ? undefined : fieldsFault(fields)) ??
    (isAbsent(hash) ? undefined : pathsFault('/hash', hash)) ??
    flagFault('allowHiddenFilter', stored) ??
    flagFault('schemaExamples', stored) ??
    sizeFault(stored) ??
    contradiction(shownFieldsOf(stored))
  );
}

/**
 * The fields that valid properties choose; undefined if items are shown whole. `hash` may also be a property of `fields`.
 */
export function shownFieldsOf({ fields, hash }: StoredFields): ShownFields | undefined {
  const lists = (isAbsent(fields) ? {} : fields) as ShownFields;
  const hashed = [...(isAbsent(hash) ? [] : (hash as string[])), ...(lists.hash ?? [])];
  const chosen = {
    ...(lists.only && { only: inOrder(lists.only) }),
    ...(lists.except && lists.except.length > 0 && { except: inOrder(lists.except) }),
    ...(hashed.length > 0 && { hash: inOrder(hashed) }),
  };
  return Object.keys(chosen).length === 0 ? undefined : chosen;
}

/** Whether a path is the other one, or that of a field within it. */
function isWithinPath(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`);
}

function flagFault(
  flag: 'allowHiddenFilter' | 'schemaExamples',
  { [flag]: value }: StoredFields,
): ShownFieldsFault | undefined {
  const isFlag = isAbsent(value) || typeof value === 'boolean';
  return isFlag ? undefined : { pointer: `/${flag}`, detail: 'is not true or false.' };
}

function fieldsFault(fields: unknown): ShownFieldsFault | undefined {
  if (!isPlainDocument(fields))
    return { pointer: '/fields', detail: `is not a document such as ${EXAMPLE}.` };
  const names = Object.keys(fields);
  const unknown = names.find((name) => !LISTS.includes(name) && name !== 'hash');
  if (unknown !== undefined)
    return { pointer: `/fields/${shown(unknown)}`, detail: `is an unknown property; write ${EXAMPLE}.` };
  if (LISTS.every((name) => names.includes(name)))
    return { pointer: '/fields', detail: 'has both "only" and "except"; keep one of them.' };
  for (const name of names) {
    const fault = pathsFault(`/fields/${name}`, fields[name]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function pathsFault(pointer: string, paths: unknown): ShownFieldsFault | undefined {
  if (!Array.isArray(paths)) return { pointer, detail: 'is not a list of paths such as ["data.email"].' };
  if (paths.length > MOST_PATHS)
    return { pointer, detail: `has ${paths.length} paths; at most ${MOST_PATHS} are allowed.` };
  for (const [index, path] of paths.entries()) {
    const detail = pathFault(path);
    if (detail !== undefined) return { pointer: `${pointer}/${index}`, detail };
  }
  return undefined;
}

function pathFault(path: unknown): string | undefined {
  if (typeof path !== 'string' || !path.isWellFormed() || path.includes('\0'))
    return 'is not a path; write one such as "data.email".';
  if (WHOLE_FIELDS.includes(path)) return undefined;
  const parts = path.split('.');
  if (STAYING.includes(parts[0]!))
    return `is "${shown(path)}", which stays in every item; take it out of the list.`;
  if (parts[0] !== 'data' || parts.length === 1 || parts.includes(''))
    return `is "${shown(path)}", which is not a path; write one such as "data.email", "createdBy" or "channels".`;
  if (parts.length > MOST_PARTS)
    return `has ${parts.length} parts; at most ${MOST_PARTS} are allowed. Name a field around it, such as "${shown(parts.slice(0, 3).join('.'))}".`;
  if (parts.some((part) => /^\d+$/.test(part)))
    return `is "${shown(path)}", which contains a number, and a path applies to all elements of a list; leave the number out, as in "data.rows.price".`;
  if (parts.some((part) => part.startsWith('$')))
    return `is "${shown(path)}", with a name that begins with "$"; name the field around it.`;
  return undefined;
}

function sizeFault({ fields, hash }: StoredFields): ShownFieldsFault | undefined {
  const bytes = calculateObjectSize({ fields, hash }, { ignoreUndefined: true });
  if (bytes < FILTER_BYTES) return undefined;
  return {
    pointer: '/fields',
    detail: `takes ${bytes} bytes with "hash"; it must be smaller than ${FILTER_BYTES} (64 KiB).`,
  };
}

/** A field that is left out cannot also be shown as a hash, and the hash of a field cannot leave out a part of it. */
function contradiction({ except = [], hash = [] }: ShownFields = {}): ShownFieldsFault | undefined {
  for (const hashed of hash) {
    const left = except.find((path) => isWithinPath(hashed, path) || isWithinPath(path, hashed));
    if (left !== undefined)
      return {
        pointer: '/hash',
        detail: `has "${shown(hashed)}", and "except" has "${shown(left)}"; keep one of them.`,
      };
  }
  return undefined;
}

/** Whether a value is a document, and not a date or a BSON value such as MaxKey, which are objects without keys. */
function isPlainDocument(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]' && !('_bsontype' in (value as object));
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function inOrder(paths: string[]): string[] {
  return [...new Set(paths)].sort();
}
