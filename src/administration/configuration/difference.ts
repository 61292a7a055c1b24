import type { ServiceKey } from '../../application/index.js';
import type { Steps } from '../../platform/common/index.js';
import type { Tenant } from '../../record/index.js';
import { nameOfTenant, type StoredApplication } from '../applications.js';
import { invalidAt } from '../changes.js';
import { filterJson } from '../filter-text.js';
import { nameOfService } from '../services.js';
import {
  type Configuration,
  APPLICATION,
  type ConfiguredApplication,
  type ConfiguredCredential,
  type ConfiguredService,
  CREDENTIAL,
  SERVICE,
} from '../shapes.js';
import { DEFAULT_SERVICE, isEnabled, type StoredService } from '../../application/plain.js';
import type { Scope } from '../../auth/index.js';
import type { ListedCredential } from '../credentials.js';
import { type FieldError, type Fields, type Shaped, shapeInSteps } from '../fields.js';
import { serviceFault } from '../service-rules.js';

/** A change that brings the stored configuration closer to the wanted one. */
export type PlannedChange = Pick<Thing, 'name' | 'pointer'> & {
  action: 'create' | 'change' | 'remove';
  /** The wanted thing; for a removal, the stored one. */
  thing: Thing;
  /** Names of the fields that get another value. */
  changed: string[];
  /** The stored fields; undefined for a thing that is created. */
  before?: Thing['fields'] | undefined;
};

/** The changes, and the stored things that the wanted configuration omits and that are kept. */
export interface PlannedChanges {
  changes: PlannedChange[];
  untold: Thing[];
}

/**
 * Compares the stored things with the wanted ones. A stored thing that is not wanted is removed if `isPruned` is set;
 * otherwise it is kept and listed in `untold`. Removals come last, services before their applications.
 */
export function* differenceBetween(
  stored: Thing[],
  wanted: Thing[],
  isPruned: boolean,
): Steps<PlannedChanges> {
  const known = new Map(stored.map((thing) => [thing.name, thing]));
  const changes: PlannedChange[] = [];
  for (const thing of wanted) {
    const before = known.get(thing.name);
    const changed = differing(thing.fields, before?.fields ?? {});
    if (before === undefined) changes.push(changeOf('create', thing, changed));
    else if (changed.length > 0)
      changes.push({ ...changeOf('change', thing, changed), before: before.fields });
    known.delete(thing.name);
    yield;
  }
  const untold = [...known.values()];
  if (!isPruned) return { changes, untold };
  for (const thing of untold.reverse()) changes.push(changeOf('remove', thing, []));
  return { changes, untold: [] };
}

function changeOf(action: PlannedChange['action'], thing: Thing, changed: string[]): PlannedChange {
  return { action, name: thing.name, pointer: thing.pointer, thing, changed };
}

/** The key of a thing, by its collection. */
type ThingKey =
  | { what: 'application'; key: Tenant }
  | { what: 'service'; key: ServiceKey }
  | { what: 'credential'; key: { username: string } };

/** One thing of a configuration: its key and its other fields. */
type Thing = ThingKey & {
  /** A description in words, unique within a configuration. */
  name: string;
  /** JSON pointer to its place in the configuration. */
  pointer: string;
  /** Its other fields, with their stored values; undefined for a field without a value. */
  fields: Record<string, unknown>;
};

/** The things of a configuration, applications before their services. */
export function* thingsOf({ applications = [], credentials = [] }: Configuration): Steps<Thing[]> {
  const things: Thing[] = [];
  for (const [index, application] of applications.entries()) {
    for (const thing of thingsOfApplication(application, `/applications/${index}`)) things.push(thing);
    yield;
  }
  for (const [index, { username, level, scopes, disabled, expiresAt }] of credentials.entries()) {
    const fields = { level, scopes, disabled: disabled === true ? true : undefined, expiresAt };
    const pointer = `/credentials/${index}`;
    things.push({
      what: 'credential',
      key: { username },
      name: nameOfCredential(username),
      pointer,
      fields,
    });
    yield;
  }
  return things;
}

function thingsOfApplication(
  application: NonNullable<Configuration['applications']>[number],
  pointer: string,
): Thing[] {
  const { organizationid, appid, title, settings, services = [] } = application;
  const tenant = { organizationid, appid };
  return [
    {
      what: 'application',
      key: tenant,
      name: `application ${nameOfTenant(tenant)}`,
      pointer,
      fields: { title, settings },
    },
    ...services.map(({ kind, name, enabled, allowHiddenFilter, ...service }, index): Thing => {
      const key = { ...tenant, kind, name };
      const { filter, description, fields: shown, hash } = service;
      const fields = {
        filter: name === DEFAULT_SERVICE ? undefined : filter,
        ...{ description, enabled: enabled === false ? false : undefined, fields: shown, hash },
        allowHiddenFilter: allowHiddenFilter === true ? true : undefined,
      };
      return {
        what: 'service',
        key,
        name: nameOfService(key),
        pointer: `${pointer}/services/${index}`,
        fields,
      };
    }),
  ];
}

function nameOfCredential(username: string): string {
  return `credential "${username}"`;
}

/** Names of the fields that differ. Filters are compared as extended JSON. */
function differing(one: Thing['fields'], other: Thing['fields']): string[] {
  return Object.keys(one).filter((name) => textOf(one[name]) !== textOf(other[name]));
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(filterJson(value));
}

/** Throws 400, with the pointer, if a thing occurs twice. */
export function* assertSingle(things: Thing[]): Steps<void> {
  const seen = new Set<string>();
  for (const { name: said, pointer } of things) {
    if (seen.has(said)) throw invalidAt(pointer, `tells of the ${said} a second time.`);
    seen.add(said);
    yield;
  }
}

/** Builds a configuration from stored documents. `leftOut` describes what cannot be part of it. */
export function* understood(
  applications: StoredApplication[],
  services: StoredService[],
  credentials: ListedCredential[],
): Steps<{ configuration: Configuration; leftOut: string[] }> {
  const leftOut: string[] = [];
  function* read<F extends Fields>(
    fields: F,
    name: string,
    stored: object,
    faultOf?: (value: Shaped<F>) => FieldError | undefined,
  ): Steps<Shaped<F>[]> {
    const found = yield* shapeInSteps(fields, withoutNothing(stored), faultOf);
    if ('value' in found) return [found.value];
    const [{ pointer, detail } = { pointer: '', detail: '' }] = found.faults;
    leftOut.push(`${name}: ${pointer.slice(1).replaceAll('/', '.')} ${detail}`);
    return [];
  }
  const byApplication = byPlace(services);
  const known: ConfiguredApplication[] = [];
  for (const application of applications) {
    const place = placeOf(application);
    const own: ConfiguredService[] = [];
    for (const service of byApplication.get(place) ?? []) {
      const said = `${nameOf(service)} of ${place}`;
      own.push(...(yield* read(SERVICE, said, serviceJson(service), serviceFault)));
      yield;
    }
    byApplication.delete(place);
    const { organizationid, appid, title, settings } = application;
    const stored = { organizationid, appid, title, settings };
    for (const one of yield* read(APPLICATION, `application ${place}`, stored))
      known.push({ ...one, services: own });
    yield;
  }
  for (const [place, orphans] of byApplication)
    for (const service of orphans)
      leftOut.push(`${nameOf(service)} of ${place}: there is no such application.`);
  const opened: ConfiguredCredential[] = [];
  for (const one of credentials) {
    opened.push(...(yield* read(CREDENTIAL, `credential "${String(one.username)}"`, credentialJson(one))));
    yield;
  }
  return { configuration: { applications: known, credentials: opened }, leftOut };
}

function byPlace(services: StoredService[]): Map<string, StoredService[]> {
  const found = new Map<string, StoredService[]>();
  for (const service of services) {
    const place = placeOf(service);
    const others = found.get(place);
    if (others === undefined) found.set(place, [service]);
    else others.push(service);
  }
  return found;
}

function serviceJson(service: StoredService): object {
  const { kind, name, description, filter, fields, hash, allowHiddenFilter } = service;
  return {
    ...{ kind, name, description },
    enabled: isEnabled(service) ? undefined : false,
    filter: name === DEFAULT_SERVICE ? undefined : filterJson(filter),
    fields: filterJson(fields),
    hash: filterJson(hash),
    allowHiddenFilter: allowHiddenFilter === false ? undefined : allowHiddenFilter,
  };
}

/** Any stored value of `disabled` except false and null disables a credential. */
function credentialJson({ username, level, scopes, disabled, expiresAt }: ListedCredential): object {
  const isDisabled = disabled !== undefined && disabled !== null && disabled !== false;
  return {
    ...{ username, level, disabled: isDisabled ? true : undefined },
    scopes: Array.isArray(scopes) ? (scopes as unknown[]).map(scopeJson) : scopes,
    expiresAt: expiresAt instanceof Date ? dateText(expiresAt) : expiresAt,
  };
}

function scopeJson(scope: unknown): object {
  const { organizationid, appid } = Object(scope) as Partial<Scope>;
  return { organizationid, appid };
}

function dateText(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'no date' : date.toISOString();
}

/** Removes properties without a value. Operators also write null for a missing value. */
function withoutNothing(stored: object): object {
  return Object.fromEntries(
    Object.entries(stored).filter(([, value]) => value !== undefined && value !== null),
  );
}

function placeOf({ organizationid, appid }: { organizationid?: unknown; appid?: unknown }): string {
  return `${String(organizationid)}/${String(appid)}`;
}

function nameOf({ kind, name }: StoredService): string {
  return `${String(kind)} service "${String(name)}"`;
}
