import { DEFAULT_SERVICE, type ServiceKey } from '../../application/plain.js';
import type { Steps } from '../../platform/common/index.js';
import type { Tenant } from '../../record/index.js';
import { nameOfTenant } from '../applications.js';
import { invalidAt } from '../changes.js';
import { filterJson } from '../filter-text.js';
import { plainKind } from '../kinds.js';
import { nameOfService } from '../services.js';
import { type Configuration, type ConfiguredKind, KIND } from '../shapes.js';

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
  | { what: 'kind'; key: { name: string } }
  | { what: 'application'; key: Tenant }
  | { what: 'service'; key: ServiceKey }
  | { what: 'credential'; key: { username: string } };

/** One thing of a configuration: its key and its other fields. */
export type Thing = ThingKey & {
  /** A description in words, unique within a configuration. */
  name: string;
  /** JSON pointer to its place in the configuration. */
  pointer: string;
  /** Its other fields, with their stored values; undefined for a field without a value. */
  fields: Record<string, unknown>;
};

/** The things of a configuration: kinds first, and applications before their services. */
export function* thingsOf({
  kinds = [],
  applications = [],
  credentials = [],
}: Configuration): Steps<Thing[]> {
  const things: Thing[] = kinds.map(thingOfKind);
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

function thingOfKind(kind: ConfiguredKind, index: number): Thing {
  const { name, ...fields } = plainKind(kind);
  const none = Object.fromEntries(KIND_FIELDS.map((field) => [field, undefined]));
  return {
    what: 'kind',
    key: { name },
    name: `kind "${name}"`,
    pointer: `/kinds/${index}`,
    fields: { ...none, ...fields },
  };
}

const KIND_FIELDS = Object.keys(KIND).filter((field) => field !== 'name');

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
    ...services.map(
      ({ kind, name, enabled, allowHiddenFilter, schemaExamples, ...service }, index): Thing => {
        const key = { ...tenant, kind, name };
        const { filter, description, fields: shown, hash } = service;
        const fields = {
          filter: name === DEFAULT_SERVICE ? undefined : filter,
          ...{ description, enabled: enabled === false ? false : undefined, fields: shown, hash },
          allowHiddenFilter: allowHiddenFilter === true ? true : undefined,
          schemaExamples: schemaExamples === true ? true : undefined,
        };
        return {
          what: 'service',
          key,
          name: nameOfService(key),
          pointer: `${pointer}/services/${index}`,
          fields,
        };
      },
    ),
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
