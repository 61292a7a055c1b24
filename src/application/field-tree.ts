import type { mongo } from 'mongoose';
import { literal, shown } from '../platform/common/index.js';
import type { Filter } from './filter.js';
import { partsOf, withinElements } from './filter-effort.js';
import type { ShownFields } from './service.js';

/** What happens to a field: it is shown as it is, left out, shown as a keyed hash, or it depends on the fields within it. */
export type Treatment = Leaf | FieldBranch;

type Leaf = 'show' | 'hide' | 'hash';

/** The treatment of the fields of a document, or of each document of a list. */
export interface FieldBranch {
  /** Applies to all fields that are not named. */
  others: 'show' | 'hide';
  named: Map<string, Treatment>;
}

/** The treatment of the members of an item that can be left out. */
interface FieldTree {
  data: FieldBranch;
  createdBy: Leaf;
  channels: Leaf;
}

/** Compiles the fields of a service. Without any, everything is shown. */
export function fieldTree({ only, except, hash }: ShownFields = {}): FieldTree {
  const others = only === undefined ? 'show' : 'hide';
  const data: FieldBranch = { others, named: new Map() };
  const root: FieldBranch = { others, named: new Map([['data', data]]) };
  for (const path of shortestFirst(only)) put(root, path, 'show');
  for (const path of shortestFirst(except)) put(root, path, 'hide');
  for (const path of shortestFirst(hash)) put(root, path, 'hash');
  return {
    data,
    createdBy: (root.named.get('createdBy') ?? others) as Leaf,
    channels: (root.named.get('channels') ?? others) as Leaf,
  };
}

/** Sorts paths by length, so that each path comes after the paths of the fields that contain its field. */
function shortestFirst(paths: string[] = []): string[] {
  return [...paths].sort((one, other) => one.length - other.length);
}

function put(root: FieldBranch, path: string, treatment: Leaf): void {
  const parts = path.split('.');
  const last = parts.pop()!;
  let branch = root;
  for (const part of parts) {
    const found = branch.named.get(part) ?? branch.others;
    // A field that contains this one has a treatment as a whole, so only a hash within a shown field still applies.
    if (typeof found !== 'object' && branch.named.has(part) && !(found === 'show' && treatment === 'hash'))
      return;
    const next = typeof found === 'object' ? found : { others: found as 'show' | 'hide', named: new Map() };
    branch.named.set(part, next);
    branch = next;
  }
  branch.named.set(last, treatment);
}

/** The fields of a service before and after an edit. */
interface FieldsEdit {
  before: ShownFields | undefined;
  after: ShownFields | undefined;
  /** Whether the edit changes the key of the hashes. */
  isRekeyed: boolean;
}

/**
 * A query for the records that have a field whose treatment an edit changes; undefined if it changes none. A change of
 * `createdBy` or `channels` concerns every record, because items may show them although the record does not store them.
 * MongoDB finds no fields in lists of lists, nor in the second of two fields of the same name. So the query also
 * selects each record that has either of these on the path of a changed field.
 */
export function concernedBy({ before, after, isRekeyed }: FieldsEdit): mongo.Document | undefined {
  const [one, other] = [fieldTree(before), fieldTree(after)];
  const differ = (a: Treatment, b: Treatment, path: string): mongo.Document[] => {
    if (a === 'show' && isOpen(b)) return differ({ others: 'show', named: new Map() }, b, path);
    if (b === 'show' && isOpen(a)) return differ(a, { others: 'show', named: new Map() }, path);
    if (isClosed(a) && b === 'hide') return having(path, WITH_FIELDS);
    if (isClosed(b) && a === 'hide') return having(path, WITH_FIELDS);
    if (typeof a !== 'object' || typeof b !== 'object')
      return a === b && !(a === 'hash' && isRekeyed) ? [] : having(path);
    const names = [...new Set([...a.named.keys(), ...b.named.keys()])];
    if (a.others !== b.others && path !== 'data') return having(path);
    return [
      ...(a.others === b.others ? [] : [havingOthers(names)]),
      ...names.flatMap((name) =>
        differ(a.named.get(name) ?? a.others, b.named.get(name) ?? b.others, `${path}.${name}`),
      ),
    ];
  };
  const ofAllRecords = [
    ...differ(one.createdBy, other.createdBy, 'createdBy'),
    ...differ(one.channels, other.channels, 'channels'),
  ];
  if (ofAllRecords.length > 0) return {};
  // Each condition is evaluated for every record, so duplicates are removed: fields of one object share conditions.
  const changed = differ(one.data, other.data, 'data').map(
    (query) => [JSON.stringify(query), query] as const,
  );
  return changed.length === 0 ? undefined : { $or: [...new Map(changed).values()] };
}

/** Whether it is a branch that shows the fields it does not name. Without names, such a branch is equal to `show`. */
function isOpen(treatment: Treatment): treatment is FieldBranch {
  return typeof treatment === 'object' && treatment.others === 'show';
}

/**
 * Whether it is a branch that hides the fields it does not name. It also hides a value without fields, such as a text.
 */
function isClosed(treatment: Treatment): boolean {
  return typeof treatment === 'object' && treatment.others === 'hide';
}

/** A value that is shown at least as `{}` or as a list if `only` names a field within it. */
const WITH_FIELDS = { $type: ['object', 'array'] };

/** Queries for the records that have a field. */
function having(path: string, condition: mongo.Document = { $exists: true }): mongo.Document[] {
  const parts = path.split('.');
  const around = parts.slice(1, -1).map((_, index) => parts.slice(0, index + 2));
  return [
    { [path]: condition },
    ...around.map((list) => ({ [list.join('.')]: { $elemMatch: { $type: 'array' } } })),
    ...around.map(havingTwice),
  ];
}

/**
 * A query for the records in which a document has a field more than once: the parent of the field, or an element of the
 * parent if that is a list.
 */
function havingTwice(path: string[]): mongo.Document {
  const [name, parent] = [path.at(-1)!, `$${path.slice(0, -1).join('.')}`];
  const documents = { $cond: [{ $isArray: parent }, parent, [parent]] };
  const isNamed = { $eq: ['$$field.k', literal(name)] };
  const named = { $filter: { input: { $objectToArray: '$$document' }, as: 'field', cond: isNamed } };
  const isDoubled = {
    $cond: [{ $eq: [{ $type: '$$document' }, 'object'] }, { $gt: [{ $size: named }, 1] }, false],
  };
  return { $expr: { $anyElementTrue: [{ $map: { input: documents, as: 'document', in: isDoubled } }] } };
}

/** A query for the records that have a field in `data` besides these. */
function havingOthers(names: string[]): mongo.Document {
  const stored = { $cond: [{ $eq: [{ $type: '$data' }, 'object'] }, '$data', {}] };
  const keys = { $map: { input: { $objectToArray: stored }, in: '$$this.k' } };
  return { $expr: { $gt: [{ $size: { $setDifference: [keys, literal(names)] } }, 0] } };
}

const NUMBER = /^\d+$/;

/**
 * Why a filter would reveal what the service hides, in sentences that name the first field of the filter that is left
 * out or hashed, at least in part. Undefined if there is none.
 */
export function hiddenFilterFault(filter: Filter, fields: ShownFields): string | undefined {
  const tree = fieldTree(fields);
  const root: FieldBranch = { others: 'show', named: new Map(Object.entries<Treatment>({ ...tree })) };
  const part = withinElements(partsOf(filter)).find(({ field }) => isHiddenAt(root, field.split('.')));
  return (
    part &&
    `The filter uses ${shown(part.place)}, which the service hides, so the records in the feed would reveal its values. Remove the field from the filter, or allow it with "allowHiddenFilter": true (--allow-hidden-filter).`
  );
}

/** A number in a path can be an array index or the name of a field. */
function isHiddenAt(treatment: Treatment, [part, ...rest]: string[]): boolean {
  if (typeof treatment !== 'object') return treatment !== 'show';
  if (part === undefined) return treatment.others === 'hide' || treatment.named.size > 0;
  const within = isHiddenAt(treatment.named.get(part) ?? treatment.others, rest);
  return within || (NUMBER.test(part) && isHiddenAt(treatment, rest));
}
