import type { KindDescription } from './kind.js';
import { problems } from '../platform/http/pure.js';
import { member } from './member.js';
import { product } from './product.js';

/** The kinds that every deployment has. */
const builtIn = { member, product } satisfies Record<string, KindDescription>;

/** The name of a kind. It is a part of paths, and the `type` of an item whose record stores no `type`. */
export type Kind = string;

export type BuiltInKind = keyof typeof builtIn;

export const BUILT_IN_KINDS = Object.keys(builtIn) as readonly BuiltInKind[];

/** Whether every deployment has this kind. */
export function isBuiltIn(kind: Kind): kind is BuiltInKind {
  return Object.hasOwn(builtIn, kind);
}

/** The kind whose records can be selected by channel. */
export const CHANNEL_KIND: Kind = theOne(([, { hasChannelFeeds }]) => hasChannelFeeds);

/** The kind whose records are people. */
export const PERSON_KIND: Kind = theOne(([, { isPerson }]) => isPerson);

/**
 * The kinds of the database that this process serves: those that are built in, and those of its collection `kinds`
 * (contract §8). A process serves one database.
 */
let known: ReadonlyMap<Kind, KindDescription> = new Map(Object.entries(builtIn));
let names: readonly Kind[] = BUILT_IN_KINDS;
let byCollection = kindsByCollection();
const listeners = new Set<() => void>();

/** All kinds: first those that are built in, then the others by name. */
export function kindNames(): readonly Kind[] {
  return names;
}

export function isKind(name: unknown): name is Kind {
  return typeof name === 'string' && known.has(name);
}

/**
 * Whether an application may have records of a kind. If the kind is fixed to one application, no other application has
 * any.
 */
export function isKindOf(name: unknown, tenant: { organizationid: string; appid: string }): name is Kind {
  if (!isKind(name)) return false;
  const { organizationid, appid } = describedKind(name).stored?.tenant ?? tenant;
  return organizationid === tenant.organizationid && appid === tenant.appid;
}

/**
 * The description of a kind. Throws 404 `unknown-kind` for a kind that has been removed in the meantime. Work outside
 * requests that fails with this error is repeated, by then without the kind.
 */
export function describedKind(kind: Kind): KindDescription {
  const described = known.get(kind);
  if (described === undefined) throw problems.unknownKind(kind);
  return described;
}

/** Several records of a kind, in texts for people. A kind that was removed in the meantime has the usual plural. */
export function pluralOfKind(kind: Kind): string {
  return known.get(kind)?.plural ?? `${kind}s`;
}

/** The collection of a kind (contract §4, §8). */
export function collectionOf(kind: Kind): string {
  return describedKind(kind).collection;
}

/** The kind whose records a collection holds; undefined for every other collection. */
export function kindOfCollection(collection: string): Kind | undefined {
  return byCollection.get(collection);
}

/** Like {@link kindOfCollection}, but undefined also for the kinds that are built in. */
export function createdKindOf(collection: string): Kind | undefined {
  const kind = kindOfCollection(collection);
  return kind === undefined || isBuiltIn(kind) ? undefined : kind;
}

/** The collections of all kinds. */
export function recordCollections(): string[] {
  return names.map(collectionOf);
}

/** A value for each kind, made when it is first asked for. */
export class PerKind<T> {
  private readonly values = new Map<Kind, T>();

  constructor(private readonly make: () => T) {}

  of(kind: Kind): T {
    const value = this.values.get(kind) ?? this.make();
    this.values.set(kind, value);
    return value;
  }

  set(kind: Kind, value: T): void {
    this.values.set(kind, value);
  }
}

/** Replaces the kinds that are not built in. Returns whether anything has changed. */
export function replaceKinds(others: ReadonlyMap<Kind, KindDescription>): boolean {
  const sorted = [...others].sort(([one], [other]) => (one < other ? -1 : 1));
  const next = new Map<Kind, KindDescription>([...Object.entries(builtIn), ...sorted]);
  if (JSON.stringify([...next]) === JSON.stringify([...known])) return false;
  known = next;
  names = [...next.keys()];
  byCollection = kindsByCollection();
  for (const listener of listeners) listener();
  return true;
}

/** Calls `listener` after each change of the kinds, until the function that it returns is called. */
export function onKindsChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function kindsByCollection(): ReadonlyMap<string, Kind> {
  return new Map([...known].map(([kind, { collection }]) => [collection, kind]));
}

function theOne(is: (kind: [string, KindDescription]) => boolean): Kind {
  const [first, ...others] = Object.entries<KindDescription>(builtIn).filter(is);
  if (first === undefined || others.length > 0)
    throw new Error(
      'Exactly one built-in kind must have channel feeds, and the records of exactly one must be people.',
    );
  return first[0];
}
