import { createHash } from 'node:crypto';
import type { mongo } from 'mongoose';
import { fits, NAME, NAME_RULE, textOf } from '../platform/common/index.js';
import type { KindDescription, StoredShape } from './kind.js';
import { BUILT_IN_KINDS, describedKind, isBuiltIn, type Kind } from './registry.js';

/** Name of the collection of kinds that operators create (contract §8). */
export const KINDS = 'kinds';

/** A document of `kinds`. */
export interface KindDocument {
  name: string;
  /** The collection of its records. */
  collection: string;
  /** The plural noun for the records, for messages; by default the name with an s. */
  plural?: string;
  /** The fields that hold the `id` and the stamp; by default fields of these names. */
  id?: string;
  lastupdated?: string;
  /** The application of all records, if these do not name theirs. */
  organizationid?: string;
  appid?: string;
  /** Whether the field `channels` holds the channels of a record; by default it does not. */
  channels?: boolean;
  /** False if the records have no field `data`: all other fields are then their data. */
  data?: boolean;
}

/** What is wrong with one field of a kind. */
export interface KindFault {
  field: keyof KindDocument;
  detail: string;
}

export const KIND_NAME = /^[a-z][a-z0-9-]{0,31}$/;
const LONGEST_PLURAL = 60;
/** In bytes. MongoDB limits the name of a database and a collection together to 255. */
const LONGEST_COLLECTION = 150;
const LONGEST_FIELD = 100;

/** Names that paths have in the position of a kind, with another meaning. */
const RESERVED_NAMES = ['productbychannel'];
/** The service's own collections beside those whose name begins with `tidemark.` */
const OWN_COLLECTIONS = ['applications', 'services', 'credentials', KINDS];
/** The fields of a record that have a meaning of their own (contract §4). */
const RESERVED_FIELDS = [
  ...['_id', 'organizationid', 'appid', 'type', 'createDate', 'createdBy', 'data', 'channels', 'emailkey'],
];

type Judge = (document: KindDocument) => string | undefined;

const judges: Record<keyof KindDocument, Judge> = {
  name: ({ name }) => {
    if (typeof name !== 'string' || !KIND_NAME.test(name))
      return 'must begin with a lower-case letter and have at most 32 lower-case letters, digits and hyphens, such as "order".';
    if (isBuiltIn(name))
      return `is built in: "${name}" needs no document. Choose another name, such as "order".`;
    return RESERVED_NAMES.includes(name)
      ? `is reserved: "${name}" is a part of paths. Choose another name.`
      : undefined;
  },
  collection: ({ collection }) => {
    if (typeof collection !== 'string' || !isCollectionName(collection))
      return `must name a collection, with at most ${LONGEST_COLLECTION} bytes and without $, such as "orders".`;
    if (collection.startsWith('tidemark.') || OWN_COLLECTIONS.includes(collection))
      return `"${collection}" is a collection of the service itself. Name the collection of the records, such as "orders".`;
    const owner = BUILT_IN_KINDS.find((kind) => describedKind(kind).collection === collection);
    return (
      owner &&
      `"${collection}" is the collection of the kind "${owner}". Each kind has a collection of its own.`
    );
  },
  plural: ({ plural }) =>
    plural === undefined ||
    (typeof plural === 'string' && plural.trim() !== '' && fits(plural, LONGEST_PLURAL))
      ? undefined
      : `must be a string of 1 to ${LONGEST_PLURAL} characters, such as "orders".`,
  id: ({ id, lastupdated }) =>
    fieldFault(id, 'id', 'sku') ??
    (id !== undefined && id === (lastupdated ?? 'lastupdated')
      ? 'must be a different field from that of the stamp, such as "sku".'
      : undefined),
  lastupdated: ({ lastupdated, id }) =>
    fieldFault(lastupdated, 'lastupdated', 'updatedAt') ??
    (lastupdated !== undefined && lastupdated === (id ?? 'id')
      ? 'must be a different field from that of the id, such as "updatedAt".'
      : undefined),
  organizationid: ({ organizationid, appid }) => tenantFault(organizationid, appid, 'appid', 'acme'),
  appid: ({ appid, organizationid }) => tenantFault(appid, organizationid, 'organizationid', 'webshop'),
  channels: ({ channels }) => flagFault(channels),
  data: ({ data }) => flagFault(data),
};

/** What is wrong with a kind, field by field. The caller has to check that no other created kind has its collection. */
export function kindFaults(document: KindDocument): KindFault[] {
  return (Object.keys(judges) as (keyof KindDocument)[]).flatMap((field) => {
    const detail = judges[field](document);
    return detail === undefined ? [] : [{ field, detail }];
  });
}

/** The fields of a kind in their order, without those that have no value. */
export function kindFields(document: KindDocument): KindDocument {
  const fields = Object.keys(judges) as (keyof KindDocument)[];
  const given = fields.filter((field) => document[field] !== undefined && document[field] !== null);
  return Object.fromEntries(given.map((field) => [field, document[field]])) as unknown as KindDocument;
}

/**
 * The kinds of the stored documents, by name. A document that is not valid is ignored, and so is a document whose name
 * or collection an earlier one has. Nothing is served for an ignored document.
 */
export function kindsIn(stored: mongo.Document[]): Map<Kind, KindDescription> {
  const found = new Map<Kind, KindDescription>();
  const collections = new Set<string>();
  for (const { _id, ...fields } of stored) {
    const document = kindFields(fields as KindDocument);
    if (kindFaults(document).length > 0) continue;
    if (found.has(document.name) || collections.has(document.collection)) continue;
    collections.add(document.collection);
    found.set(document.name, { ...descriptionOf(document), document: documentKey(_id, document) });
  }
  return found;
}

/**
 * Identifies a stored document and its fields except `plural`: a document in which any other field is edited defines a
 * different kind.
 */
export function documentKey(_id: unknown, { plural: _plural, ...document }: KindDocument): string {
  const fields = JSON.stringify(kindFields(document));
  return `${textOf(_id)} ${createHash('sha256').update(fields).digest('base64url').slice(0, 16)}`;
}

function descriptionOf(document: KindDocument): KindDescription {
  const { name, collection, plural = `${name}s`, channels = false } = document;
  const stored = storedShape(document);
  return {
    ...{ plural, collection, alwaysHasChannels: channels, hasChannelFeeds: false, isPerson: false },
    ...(stored && { stored }),
  };
}

/** Undefined if the collection stores its records as contract §4 says. */
function storedShape(document: KindDocument): StoredShape | undefined {
  const { id = 'id', lastupdated = 'lastupdated', organizationid, appid, channels, data = true } = document;
  const tenant = organizationid !== undefined && appid !== undefined ? { organizationid, appid } : undefined;
  if (id === 'id' && lastupdated === 'lastupdated' && tenant === undefined && data) return undefined;
  return {
    names: { id, lastupdated },
    ...(tenant && { tenant }),
    hasData: data,
    hasChannels: channels === true || data,
  };
}

function isCollectionName(name: string): boolean {
  const isPlain =
    !name.includes('$') && !/\p{Cc}/u.test(name) && !name.startsWith('.') && !name.endsWith('.');
  return (
    isPlain && name !== '' && !name.startsWith('system.') && Buffer.byteLength(name) <= LONGEST_COLLECTION
  );
}

function fieldFault(field: unknown, own: string, example: string): string | undefined {
  if (field === undefined || field === own) return undefined;
  if (typeof field !== 'string' || field === '' || field.length > LONGEST_FIELD || /[.$\0]/.test(field))
    return `must name a field of the records, without dots and $, such as "${example}".`;
  // Of a name that every object of JavaScript inherits, libraries find the inherited value: no index is made.
  const isReserved = RESERVED_FIELDS.includes(field) || field in Object.prototype;
  return isReserved
    ? `cannot be "${field}", which has a meaning of its own. Name another, such as "${example}".`
    : undefined;
}

function tenantFault(value: unknown, other: unknown, name: string, example: string): string | undefined {
  if (value === undefined)
    return other === undefined
      ? undefined
      : `is missing although ${name} is present: add it, such as "${example}", or send neither.`;
  return typeof value === 'string' && NAME.test(value) ? undefined : `${NAME_RULE}.`;
}

function flagFault(value: unknown): string | undefined {
  return value === undefined || typeof value === 'boolean' ? undefined : 'must be true or false.';
}
