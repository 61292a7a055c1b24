import { literal } from '../platform/common/index.js';
import { pointerTo, problems } from '../platform/http/pure.js';
import type { CreateMember, PatchAddress, PatchMember } from './bodies.js';
import { isDeletion, MOST_PROPERTIES, MOST_SECTIONS } from './body-faults.js';

/** The fields of an address, in the order in which a new one is stored. */
const ADDRESS_FIELDS = ['address', 'address2', 'zipcode', 'city', 'country'] as const;

/** The properties of `data`, in the order in which a new member stores them. */
const PROPERTIES = [
  'accountnumber',
  'email',
  'elevel',
  'contactname',
  'passwordhash',
  'extrafields',
] as const;

const POINTER = '/extrafields';

/** A BSON document that preserves the types and the stored order of names, which JavaScript objects change. */
export type BsonDocument = Map<string, unknown>;

/** Marks the removal of a stored value. */
export const REMOVED = Symbol('removed');

/** A change of one value of a record. The path contains the names from the top of the record down. */
export interface Change {
  path: string[];
  value: unknown;
}

/** The changes that a patch makes to a stored member; none if the member already has the values. */
export function mergeMember(record: BsonDocument, patch: PatchMember): Change[] {
  const data = memberData(patch);
  const stored = record.get('data');
  const known = isDocument(stored) ? stored : undefined;
  assertRoom(known?.get('extrafields'), data.get('extrafields'));
  const changes = data.size === 0 ? [] : merge(stored, data, ['data']);
  if (patch.channels !== undefined)
    changes.push(...merge(record.get('channels'), patch.channels, ['channels']));
  if (patch.email !== undefined && patch.email !== known?.get('email')) {
    changes.push({ path: ['emailkey'], value: emailKeyOf(patch.email) });
  }
  return changes;
}

/**
 * The changes that a patch makes to the address of a stored member. If there was none, all five fields are created, empty
 * unless given. Deleting a field empties it.
 */
export function mergeAddress(record: BsonDocument, patch: PatchAddress): Change[] {
  const given = ADDRESS_FIELDS.filter((field) => patch[field] !== undefined);
  if (given.length === 0) return [];
  const valueOf = (field: keyof PatchAddress) => patch[field] ?? '';
  const data = record.get('data');
  if (!isDocument(data)) {
    return [{ path: ['data'], value: new Map([['address', newAddress(valueOf)]]) }];
  }
  const stored = data.get('address');
  if (!isDocument(stored)) return [{ path: ['data', 'address'], value: newAddress(valueOf) }];
  return given
    .filter((field) => (stored.has(field) ? stored.get(field) : '') !== valueOf(field))
    .map((field) => ({ path: ['data', 'address', field], value: valueOf(field) }));
}

type Tree = Map<string, unknown>;

/**
 * The body of a `$set` stage that makes only these changes. Names are nested and not joined with dots, so that long
 * ones are not repeated. Maps preserve the order and are safe with any name.
 */
export function setOf(changes: Change[]): Tree {
  const tree: Tree = new Map();
  for (const { path, value } of changes) {
    const last = path.at(-1) as string;
    branchAt(tree, path.slice(0, -1)).set(last, value === REMOVED ? '$$REMOVE' : literal(value));
  }
  return tree;
}

/**
 * The values of `data` in a body. Maps are used, because some names that clients may choose have a meaning in
 * objects.
 */
export function memberData(body: CreateMember | PatchMember): Map<string, unknown> {
  const given = PROPERTIES.filter((property) => body[property] !== undefined);
  return new Map(given.map((property) => [property, asMap(body[property])]));
}

/**
 * The normalized e-mail address, which is unique within an application: trimmed and lower-cased. Undefined for a
 * value that is not a string or is blank.
 */
export function emailKeyOf(email: unknown): string | undefined {
  if (typeof email !== 'string') return undefined;
  const key = email.trim().toLowerCase();
  return key === '' ? undefined : key;
}

function branchAt(tree: Tree, path: string[]): Tree {
  let branch = tree;
  for (const name of path) {
    if (!branch.has(name)) branch.set(name, new Map());
    branch = branch.get(name) as Tree;
  }
  return branch;
}

function asMap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, inner]) => [name, asMap(inner)]));
}

function isDocument(value: unknown): value is BsonDocument {
  return value instanceof Map;
}

function newAddress(valueOf: (field: keyof PatchAddress) => string): Map<string, string> {
  return new Map(ADDRESS_FIELDS.map((field) => [field, valueOf(field)]));
}

/**
 * The changes at a path that apply a patch; none if it already applies. In a patch, null and "" delete, and documents
 * are merged. A document replaces a stored value of another type.
 */
function merge(stored: unknown, patch: unknown, path: string[]): Change[] {
  if (isDeletion(patch)) return stored === undefined ? [] : [{ path, value: REMOVED }];
  if (isDocument(patch) && isDocument(stored)) {
    return [...patch].flatMap(([name, inner]) => merge(stored.get(name), inner, [...path, name]));
  }
  if (isSame(stored, patch)) return [];
  const value = withoutDeletions(patch);
  return value === undefined ? [] : [{ path, value }];
}

/** The value that a patch stores where no document is stored to merge it with; undefined if it only deletes. */
function withoutDeletions(patch: unknown): unknown {
  if (isDeletion(patch)) return undefined;
  if (!isDocument(patch)) return patch;
  const kept = [...patch]
    .map(([name, inner]) => [name, withoutDeletions(inner)] as const)
    .filter(([, inner]) => inner !== undefined);
  return kept.length === 0 && patch.size > 0 ? undefined : new Map(kept);
}

/**
 * Whether a stored value equals a value of a patch. Stored numbers are objects of the driver's classes and are
 * compared by value.
 */
function isSame(stored: unknown, patch: unknown): boolean {
  if (Array.isArray(patch)) {
    return (
      Array.isArray(stored) &&
      stored.length === patch.length &&
      patch.every((value, index) => value === stored[index])
    );
  }
  if (typeof patch === 'number') return isNumber(stored) && Number(String(stored)) === patch;
  return stored === patch;
}

function isNumber(stored: unknown): boolean {
  const type = (stored as { _bsontype?: unknown } | null | undefined)?._bsontype;
  return type === 'Int32' || type === 'Double' || type === 'Long' || type === 'Decimal128';
}

/**
 * Throws 400 if the member would have more sections, or more properties in a section, than allowed. If another
 * program has stored more than that, the member may shrink, but not grow.
 */
function assertRoom(stored: unknown, patch: unknown): void {
  if (!isDocument(patch)) return;
  const sections = orEmpty(stored);
  assertFits(sections, patch, MOST_SECTIONS, { pointer: POINTER, what: 'sections' });
  for (const [name, section] of patch) {
    if (!isDocument(section)) continue;
    const pointer = pointerTo(POINTER, name);
    assertFits(orEmpty(sections.get(name)), section, MOST_PROPERTIES, { pointer, what: 'properties' });
  }
}

function assertFits(
  stored: BsonDocument,
  patch: BsonDocument,
  most: number,
  where: { pointer: string; what: string },
): void {
  const size = sizeAfter(stored, patch);
  if (size <= most || size <= stored.size) return;
  const detail = `must have at most ${most} ${where.what} together with those stored; this would make ${size}. Delete some with null`;
  throw problems.invalidRequest([{ pointer: where.pointer, detail }]);
}

function sizeAfter(stored: BsonDocument, patch: BsonDocument): number {
  let size = stored.size;
  for (const [name, value] of patch) {
    if (stored.has(name)) size -= isDeletion(value) ? 1 : 0;
    else size += withoutDeletions(value) === undefined ? 0 : 1;
  }
  return size;
}

function orEmpty(stored: unknown): BsonDocument {
  return isDocument(stored) ? stored : new Map<string, unknown>();
}
