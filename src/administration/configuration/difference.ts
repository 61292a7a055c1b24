import { DEFAULT_SERVICE, type ServiceKey } from '../../application/plain.js';
import { type Steps, exactly } from '../../platform/common/index.js';
import { type Tenant, MOST_KINDS } from '../../record/index.js';
import { nameOfTenant, applicationExists, fixedKindRefusal } from '../applications.js';
import { invalidAt } from '../changes.js';
import { filterJson } from '../filter-text.js';
import { withoutDefaults, assertNoConsumers, assertServable, tooManyKinds } from '../kinds.js';
import { nameOfService } from '../services.js';
import { type Configuration, type ConfiguredKind, KIND } from '../shapes.js';
import type { mongo } from 'mongoose';
import { isKind, type KindDocument, kindNames } from '../../kinds/index.js';
import { kindsOf } from '../listed-kinds.js';

/** A change that brings the stored configuration closer to the wanted one. */
export type PlannedChange = Pick<Thing, 'name' | 'pointer'> & {
  action: 'create' | 'change' | 'remove';
  /** The wanted thing; for a removal, the stored one. */
  thing: Thing;
  /** Names of the fields that get another value. */
  changed: string[];
  /** The stored fields of a thing that is changed; undefined for one that is created or removed. */
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

/** What a thing is, and the key of its document. */
type ThingKey =
  | { what: 'kind'; key: { name: string } }
  | { what: 'application'; key: Tenant }
  | { what: 'service'; key: ServiceKey }
  | { what: 'credential'; key: { username: string } };

/** One thing of a configuration: its key and its other fields. */
type Thing = ThingKey & {
  /** A description in words, unique within a configuration. */
  name: string;
  /** JSON pointer to its place in the configuration. */
  pointer: string;
  /** Its other fields, with values in their stored form; undefined for a field without a value. */
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
  const { name, ...fields } = withoutDefaults(kind);
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
  return Object.keys(one).filter((name) => comparedText(one[name]) !== comparedText(other[name]));
}

function comparedText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(filterJson(value));
}

/** Throws 400, with the pointer, if a thing occurs twice. */
export function* assertSingle(things: Thing[]): Steps<void> {
  const seen = new Set<string>();
  for (const { name: said, pointer } of things) {
    if (seen.has(said)) throw invalidAt(pointer, `is a second entry for the ${said}.`);
    seen.add(said);
    yield;
  }
}

/** The changes of kinds in a plan. */
interface KindChanges {
  created: { kind: KindDocument; pointer: string }[];
  removed: Set<string>;
}

function kindChangesIn(changes: PlannedChange[]): KindChanges {
  const ofKinds = changes.filter(({ thing }) => thing.what === 'kind');
  const named = (action: PlannedChange['action']) => ofKinds.filter((one) => one.action === action);
  return {
    created: named('create').map(({ thing, pointer }) => ({ kind: kindIn(thing), pointer })),
    removed: new Set(named('remove').map(({ thing }) => kindIn(thing).name)),
  };
}

function kindIn({ key, fields }: Thing): KindDocument {
  return { ...key, ...fields } as unknown as KindDocument;
}

/** The collections of the kinds that a plan creates, by name. */
export function createdCollections(changes: PlannedChange[]): Map<string, string> {
  return new Map(kindChangesIn(changes).created.map(({ kind }) => [kind.name, kind.collection]));
}

/** Throws 400 for an edit of a kind, and for a service whose kind will not exist. */
export function assertKindsKnown(changes: PlannedChange[], wanted: Thing[]): void {
  const edit = changes.find(({ action, thing }) => thing.what === 'kind' && action === 'change');
  if (edit !== undefined)
    throw invalidAt(
      edit.pointer,
      `differs from the stored kind in ${edit.changed.join(', ')}. A kind is not edited: remove it and create it again.`,
    );
  const { created, removed } = kindChangesIn(changes);
  const isThere = (kind: string) =>
    (isKind(kind) && !removed.has(kind)) || created.some((one) => one.kind.name === kind);
  for (const { what, key, pointer } of wanted) {
    if (what !== 'service' || isThere(key.kind)) continue;
    const names = [
      ...kindNames().filter((one) => !removed.has(one)),
      ...created.map(({ kind }) => kind.name),
    ];
    throw invalidAt(`${pointer}/kind`, `is not one of ${names.join(', ')}.`);
  }
}

/**
 * Throws if kinds cannot be created or removed. 400: the name belongs to a stored document that is not valid; the
 * collection cannot be served, is used by another kind, or lacks the fields that the kind names; or the application
 * does not exist. 409: an application would be removed although a kind remains fixed to it, consumers have read a kind
 * that would be removed, or there would be too many kinds.
 */
export async function assertKindsPossible(db: mongo.Db, changes: PlannedChange[]): Promise<void> {
  const { created, removed } = kindChangesIn(changes);
  for (const name of removed) await assertNoConsumers(db, name);
  await assertApplicationsStay(db, changes, removed);
  const stays = { name: { $nin: [...removed] } };
  if (created.length > 0 && (await kindsOf(db).countDocuments(stays)) + created.length > MOST_KINDS)
    throw tooManyKinds();
  for (const [index, { kind, pointer }] of created.entries()) {
    const { name, collection } = kind;
    await assertServable(db, kind, `${pointer}/collection`);
    const others = [{ name: exactly(name) }, { collection: exactly(collection) }];
    const stored = await kindsOf(db).findOne<KindDocument>({ $and: [stays, { $or: others }] });
    if (stored?.name === name)
      throw invalidAt(
        `${pointer}/name`,
        `"${name}" is the name of a stored kind whose document is not valid. Remove that kind first.`,
      );
    const before = created.slice(0, index).find((one) => one.kind.collection === collection);
    const owner = stored?.name ?? before?.kind.name;
    if (owner !== undefined)
      throw invalidAt(
        `${pointer}/collection`,
        `"${collection}" is already used by the kind "${owner}". Each kind has a collection of its own.`,
      );
    await assertApplicationOf(db, kind, pointer, changes);
  }
}

/** Throws 409 if an application would be removed although a kind stays fixed to it. */
async function assertApplicationsStay(
  db: mongo.Db,
  changes: PlannedChange[],
  removed: Set<string>,
): Promise<void> {
  for (const { action, thing } of changes) {
    if (action !== 'remove' || thing.what !== 'application') continue;
    const refusal = await fixedKindRefusal(db, thing.key, (kind) => removed.has(kind));
    if (refusal !== undefined) throw refusal;
  }
}

/** Throws 400 if the application that a kind is fixed to will not exist. */
async function assertApplicationOf(
  db: mongo.Db,
  { organizationid = '', appid = '' }: KindDocument,
  pointer: string,
  changes: PlannedChange[],
): Promise<void> {
  if (organizationid === '') return;
  const tenant: Tenant = { organizationid, appid };
  const own = changes.find(
    ({ thing }) => thing.what === 'application' && nameOfTenant(thing.key) === nameOfTenant(tenant),
  );
  const exists = own === undefined ? await applicationExists(db, tenant) : own.action !== 'remove';
  if (!exists)
    throw invalidAt(
      `${pointer}/organizationid`,
      `names no application: there is no ${nameOfTenant(tenant)}.`,
    );
}
