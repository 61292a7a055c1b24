import {
  DEFAULT_SERVICE,
  type Filter,
  hiddenFilterFault,
  RESERVED_SERVICE_NAMES,
  shownFieldsFault,
  shownFieldsOf,
  type StoredFields,
  type StoredService,
} from '../application/plain.js';
import { NAME, NAME_RULE } from '../platform/common/index.js';
import { type FieldError, problems } from '../platform/http/plain.js';
import { Refused } from './changes.js';

/**
 * New values of a service that depend on each other. The filter is required, except for `default`, which has none.
 * Other values that are omitted stay as they are stored; null removes one.
 */
export interface ServiceEdit extends StoredFields {
  filter?: Filter | undefined;
}

/** A service as far as its properties depend on each other. */
type ServiceRules = ServiceEdit & { name: string };

/** Why a service cannot have this name; undefined if it can. */
export function serviceNameFault(name: string): string | undefined {
  if (!NAME.test(name)) return `${NAME_RULE}.`;
  return name !== DEFAULT_SERVICE && RESERVED_SERVICE_NAMES.includes(name) ? reserved(name) : undefined;
}

/**
 * Why a body cannot set the service of this name; undefined if it can. `default` is set only by a body that has no
 * filter and has another property, so that a filter that was meant for another name is refused.
 */
export function setNameFault(
  name: string,
  { filter, ...chosen }: Record<string, unknown>,
): string | undefined {
  if (name !== DEFAULT_SERVICE) return serviceNameFault(name);
  const isChosen = Object.values(chosen).some((value) => value !== undefined);
  return isChosen && isEmpty(filter) ? undefined : reserved(name);
}

function reserved(name: string): string {
  const others = RESERVED_SERVICE_NAMES.filter((one) => one !== name).join(' and ');
  const use =
    name === DEFAULT_SERVICE ? '; it takes no filter, but other properties such as "fields" and "hash"' : '';
  return `is reserved, as are ${others}${use}; choose another, such as "erp".`;
}

function isEmpty(filter: unknown): boolean {
  return filter === undefined || filter === null || Object.keys(filter).length === 0;
}

/** Why the properties of a service are not valid together (contract §7); undefined if they are. */
export function serviceFault({ name, filter, ...stored }: ServiceRules): FieldError | undefined {
  const isDefault = name === DEFAULT_SERVICE;
  if (isDefault && !isEmpty(filter)) return { pointer: '/name', detail: reserved(name) };
  if (!isDefault && filter === undefined) return { pointer: '/filter', detail: 'is missing.' };
  const fault = shownFieldsFault(stored);
  if (fault !== undefined) return fault;
  const fields = shownFieldsOf(stored);
  if (fields === undefined || stored.allowHiddenFilter === true) return undefined;
  const detail = hiddenFilterFault(filter ?? {}, fields);
  return detail === undefined ? undefined : { pointer: '/filter', detail };
}

/** Throws 400, with the pointer, if the properties of a service are not valid together. */
export function assertServiceRules(rules: ServiceRules): void {
  const fault = serviceFault(rules);
  if (fault === undefined) return;
  const { pointer, detail } = fault;
  throw new Refused(problems.invalidRequest([fault]), `${pointer} ${detail}`);
}

/** The properties after an edit of stored ones. The filter is always that of the edit. */
export function edited(stored: StoredService, { filter, ...edit }: ServiceEdit): ServiceEdit {
  const { fields, hash, allowHiddenFilter, schemaExamples } = stored;
  const given = Object.entries(edit).filter(([, value]) => value !== undefined);
  return { filter, fields, hash, allowHiddenFilter, schemaExamples, ...Object.fromEntries(given) };
}
