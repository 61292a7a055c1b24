import type { mongo } from 'mongoose';
import { BUILT_IN_KINDS, collectionOf, type Kind } from '../../src/kinds/index.js';

/** A kind whose collection another program has designed: it has names of its own, and no field `data` (contract §8). */
export const WARE = 'ware';

const NAMES: Record<string, string> = { id: 'sku', lastupdated: 'updatedAt' };
const DOCUMENT = { name: WARE, collection: 'ware_list', ...NAMES, data: false };

/** Every kind that tests of feeds run with. */
export const KINDS_AND_WARES: readonly Kind[] = [...BUILT_IN_KINDS, WARE];

export async function createWares(db: mongo.Db): Promise<void> {
  await db.collection('kinds').insertOne({ ...DOCUMENT });
}

export function collectionNamed(kind: Kind): string {
  return kind === WARE ? DOCUMENT.collection : collectionOf(kind);
}

/** The stored name of a field. */
export function storedField(kind: Kind, name: string): string {
  if (kind !== WARE) return name;
  return NAMES[name] ?? (name.startsWith('data.') ? name.slice('data.'.length) : name);
}

/** A record as its collection stores it. Wares have nothing but what they are, a name, a stamp and an application. */
export function stored(kind: Kind, record: mongo.Document): mongo.Document {
  if (kind !== WARE) return record;
  const { type: _type, createDate: _date, createdBy: _by, channels: _channels, data, ...rest } = record;
  return { ...inStoredFields(kind, rest), ...(data as object | undefined) };
}

/** An update by operators, in the fields of the collection. */
export function storedUpdate(kind: Kind, update: mongo.Document): mongo.Document {
  const operators = Object.entries<mongo.Document>(update);
  return Object.fromEntries(
    operators.map(([operator, fields]) => [operator, inStoredFields(kind, fields)] as const),
  );
}

function inStoredFields(kind: Kind, fields: mongo.Document): mongo.Document {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [storedField(kind, name), value as unknown] as const),
  );
}
