import type { ServiceKey } from '../../application/index.js';
import type { Steps } from '../../common/index.js';
import type { Tenant } from '../../record/index.js';
import { nameOfTenant } from '../applications.js';
import { invalidAt } from '../changes.js';
import { filterJson } from '../filter-text.js';
import { nameOfService } from '../services.js';
import type { Configuration } from '../shapes.js';

/** What has to be done so that what is stored is what is wanted. */
export type PlannedChange = Pick<Thing, 'name' | 'pointer'> & {
  action: 'create' | 'change' | 'remove';
  /** The thing as it is wanted; one that is to be removed, as it is stored. */
  thing: Thing;
  /** Its fields that are set to another value, by name. */
  changed: string[];
};

/** What to do, and what is stored beside it and stays. */
export interface PlannedChanges {
  changes: PlannedChange[];
  untold: Thing[];
}

/**
 * Compares what is stored with what is wanted, thing by thing. What is stored and not wanted is removed where `isPruned`
 * says so; else it stays, and is told of. Removals come last, services before their applications.
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
    else if (changed.length > 0) changes.push(changeOf('change', thing, changed));
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

/** What names a thing, by the collection that it stands in. */
type ThingKey =
  | { what: 'application'; key: Tenant }
  | { what: 'service'; key: ServiceKey }
  | { what: 'credential'; key: { username: string } };

/** One thing of a configuration: how it is found, and what else it has. */
type Thing = ThingKey & {
  /** In words, unlike that of any other. */
  name: string;
  /** Where in the configuration it is told of. */
  pointer: string;
  /** What else it has, each value as it is stored; undefined where it has none. */
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
    ...services.map(({ kind, name, description, enabled, filter }, index): Thing => {
      const key = { ...tenant, kind, name };
      const fields = { filter, description, enabled: enabled === false ? false : undefined };
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

/** Which of the fields differ, by name. Filters are compared as the extended JSON that stands for them. */
function differing(one: Thing['fields'], other: Thing['fields']): string[] {
  return Object.keys(one).filter((name) => textOf(one[name]) !== textOf(other[name]));
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(filterJson(value));
}

/** Throws the 400 that names the place where something is told twice. */
export function* assertSingle(things: Thing[]): Steps<void> {
  const seen = new Set<string>();
  for (const { name: said, pointer } of things) {
    if (seen.has(said)) throw invalidAt(pointer, `tells of the ${said} a second time.`);
    seen.add(said);
    yield;
  }
}
