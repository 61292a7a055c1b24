import type { mongo } from 'mongoose';
import { SERVICES } from '../application/plain.js';
import { count, exactly, textOf } from '../platform/common/index.js';
import { isDuplicateKey, isSameIndex, isTimeout, unfitCollection } from '../platform/database/plain.js';
import { allows, Problem, problems } from '../platform/http/plain.js';
import { isBuiltIn, type KindDocument, kindFaults, kindFields } from '../kinds/index.js';
import { idTextAt, indexesOfKind, MOST_KINDS, OWN_INDEX } from '../record/index.js';
import { CONSUMERS } from '../replication/feed/plain.js';
import type { AuditedAction } from '../trail/index.js';
import { applicationExists, nameOfTenant } from './applications.js';
import {
  changeStored,
  type ChangeContext,
  inUse,
  invalidParameter,
  invalidAt,
  readStored,
  recordAction,
  Refused,
  taken,
  unknownKind,
} from './changes.js';
import { kindsOf } from './listed-kinds.js';

/** Kinds that operators create (contract §8). A kind is not edited: it is removed, and created again. */

/** The fields of a kind. Optional ones may be absent or undefined. */
type GivenKind = Pick<KindDocument, 'name' | 'collection'> & {
  [field in keyof KindDocument]?: KindDocument[field] | undefined;
};

/** A kind without the fields whose value is the default. */
export function withoutDefaults(given: GivenKind): KindDocument {
  const document = given as KindDocument;
  const defaults = { plural: `${document.name}s`, id: 'id', lastupdated: 'lastupdated' };
  const usual: Record<string, unknown> = { ...defaults, channels: false, data: true };
  const fields = Object.entries(kindFields(document)).filter(([field, value]) => value !== usual[field]);
  return Object.fromEntries(fields) as unknown as KindDocument;
}

/**
 * Creates a kind. Throws 400 with the place of each fault, and 409 if its name or collection is taken or if there are
 * too many kinds.
 */
export async function createKind(changeContext: ChangeContext, wanted: GivenKind): Promise<void> {
  const { db } = changeContext;
  const kind = withoutDefaults(wanted);
  assertKindRules(kind);
  if (kind.organizationid !== undefined && !(await applicationExists(db, tenantOf(kind))))
    throw invalidAt('/organizationid', `names no application: there is no ${nameOfTenant(tenantOf(kind))}.`);
  await assertServable(db, kind, '/collection');
  await assertFree(db, kind);
  if ((await kindsOf(db).countDocuments()) >= MOST_KINDS) throw tooManyKinds();
  await kindsOf(db)
    .insertOne({ ...kind })
    .catch(async (error: unknown) => {
      if (isDuplicateKey(error)) await assertFree(db, kind);
      throw error;
    });
  await recordAction(changeContext, kindAction('kind.create', kind.name));
  await changeContext.readKinds?.();
}

/** How many documents were removed with a kind. */
export interface RemovedWithKind {
  services: number;
  consumers: number;
}

/**
 * Removes a kind, and the service's indexes of its collection. Its records and the ledger stay, so that a kind that is
 * created again over the same collection loses no change. With `purge`, removes its services and the notes about its
 * consumers too; without it, throws 409 if there are any. Also throws 400 for a built-in kind, and 404 and 412. An
 * interrupted removal can be repeated as long as the document of the kind remains.
 */
export async function removeKind(
  changeContext: ChangeContext,
  name: string,
  { purge, ifMatch }: { purge: boolean; ifMatch?: string | undefined },
): Promise<RemovedWithKind> {
  const { db } = changeContext;
  if (isBuiltIn(name)) throw builtIn(name);
  const unknown = () => unknownKind(name);
  const stored = await readStored(kindsOf(db), { name: exactly(name) });
  if (stored === undefined) throw unknown();
  if (!allows(ifMatch, stored.etag)) throw new Refused(problems.stale(ifMatch));
  if (!purge) await assertUnused(db, name);
  // Without `purge`, what was written since the check stays.
  const none = { deletedCount: 0 };
  const services = purge ? await db.collection(SERVICES).deleteMany({ kind: exactly(name) }) : none;
  const consumers = purge ? await db.collection(CONSUMERS).deleteMany({ '_id.kind': exactly(name) }) : none;
  await changeStored(kindsOf(db), { name: exactly(name) }, { ifMatch, unknown }, async (isUnchanged) => {
    return (await kindsOf(db).deleteOne(isUnchanged)).deletedCount;
  });
  await dropIndexes(db, stored.document['collection']);
  await recordAction(changeContext, kindAction(purge ? 'kind.purge' : 'kind.remove', name));
  await changeContext.readKinds?.();
  return { services: services.deletedCount, consumers: consumers.deletedCount };
}

/** Throws 400 with the place of each fault. */
function assertKindRules(kind: KindDocument): void {
  const faults = kindFaults(kind).map(({ field, detail }) => ({ pointer: `/${field}`, detail }));
  const [first] = faults;
  if (first === undefined) return;
  throw new Refused(problems.invalidRequest(faults), `${first.pointer} ${first.detail}`);
}

/** Throws 400 if changes of the collection cannot be followed, or if its records do not have the fields that the kind names. */
export async function assertServable(db: mongo.Db, kind: KindDocument, pointer: string): Promise<void> {
  const { collection } = kind;
  const found = await unfitCollection(db, [collection]);
  if (found !== undefined)
    throw invalidAt(
      pointer,
      `"${collection}" ${found.flaw}. Name an ordinary collection, or one that does not exist yet.`,
    );
  await assertFieldsFit(db, kind, (field) => pointer.replace(/collection$/, field));
}

/** The number of records that are examined before a kind is created, and the time limit for this (milliseconds). */
const LOOKED_AT = 10_000;
const LOOK_MS = 5000;

/** What the first records of a collection contain in the fields that a kind names. */
interface Looked {
  /** The number of records with an id, and the number of records that name an organization and an application. */
  withId: number;
  ofApplication: number;
  /** The BSON type of an invalid id, and of a stamp that is not a date; null if there is none. */
  oddId: string | null;
  oddStamp: string | null;
}

/**
 * Throws 400, with the field, if the first records show that the kind names a wrong field. The service writes an id
 * into each record without one, and dates as stamps (contract §4), so a field with other values belongs to another
 * program. An id field that no record has is a mistake, too, unless it is `id`. The kind must name an application if
 * none of these records names one. If there are no records, or if they cannot be read in time, the kind is accepted.
 */
async function assertFieldsFit(
  db: mongo.Db,
  { collection, id = 'id', lastupdated = 'lastupdated', organizationid }: KindDocument,
  pointerOf: (field: string) => string,
): Promise<void> {
  const looked = await firstRecords(db, { collection, id, lastupdated });
  if (looked === undefined) return;
  if (looked.oddId !== null)
    throw invalidAt(
      pointerOf('id'),
      `"${id}" holds a value of type ${looked.oddId} in some records, which cannot be an id. Name a field with strings or whole numbers, such as "sku".`,
    );
  if (looked.oddStamp !== null)
    throw invalidAt(
      pointerOf('lastupdated'),
      `"${lastupdated}" holds a value of type ${looked.oddStamp} in some records, but the service writes dates there. Name a field with dates, or a new one, such as "changedAt".`,
    );
  if (id !== 'id' && looked.withId === 0)
    throw invalidAt(
      pointerOf('id'),
      `"${id}" is in none of the first ${count(LOOKED_AT)} records, and the service writes an id into each record without one. Name the field that holds the ids, such as "sku".`,
    );
  if (organizationid === undefined && looked.ofApplication === 0)
    throw invalidAt(
      pointerOf('organizationid'),
      `is missing, and none of the first ${count(LOOKED_AT)} records names an organization and an application. Name the ones to which all records belong, such as "acme" and "webshop".`,
    );
}

/** Undefined if there are no records, or if they cannot be read in time. */
async function firstRecords(
  db: mongo.Db,
  { collection, id, lastupdated }: { collection: string; id: string; lastupdated: string },
): Promise<Looked | undefined> {
  const isPresent = (path: string) => ({ $not: [{ $in: [{ $type: path }, ['missing', 'null']] }] });
  const isOddId = { $and: [isPresent(`$${id}`), { $eq: [idTextAt(`$${id}`), false] }] };
  const isOddStamp = {
    $and: [isPresent(`$${lastupdated}`), { $ne: [{ $type: `$${lastupdated}` }, 'date'] }],
  };
  const isOfApplication = {
    $and: ['$organizationid', '$appid'].map((path) => ({ $eq: [{ $type: path }, 'string'] })),
  };
  const those = (condition: object) => ({ $sum: { $cond: [condition, 1, 0] } });
  const [looked] = await db
    .collection(collection)
    .aggregate<Looked>(
      [
        { $limit: LOOKED_AT },
        {
          $group: {
            _id: null,
            withId: those(isPresent(`$${id}`)),
            ofApplication: those(isOfApplication),
            oddId: { $max: { $cond: [isOddId, { $type: `$${id}` }, null] } },
            oddStamp: { $max: { $cond: [isOddStamp, { $type: `$${lastupdated}` }, null] } },
          },
        },
      ],
      { maxTimeMS: LOOK_MS },
    )
    .toArray()
    .catch((error: unknown) => {
      if (isTimeout(error)) return [];
      throw error;
    });
  return looked;
}

/**
 * Removes the service's indexes, because a unique one would still restrict the writes of other programs. Those that the
 * next kind of the collection needs too stay. Errors are ignored, so an index that cannot be removed stays.
 */
export async function dropIndexes(db: mongo.Db, collection: unknown, next?: KindDocument): Promise<void> {
  if (typeof collection !== 'string') return;
  const records = db.collection(collection);
  const needed = next === undefined ? [] : indexesOfKind(next);
  for (const index of await records.indexes().catch(() => [])) {
    const { name } = index;
    if (name?.startsWith(OWN_INDEX) !== true || needed.some((one) => isSameIndex(index, one))) continue;
    await records.dropIndex(name).catch(() => undefined);
  }
}

/** Throws 409 if a kind has services, or consumers have read it. */
async function assertUnused(db: mongo.Db, name: string): Promise<void> {
  const [service, consumer] = await Promise.all([
    db.collection(SERVICES).findOne({ kind: exactly(name) }, { projection: { _id: 1 } }),
    db.collection(CONSUMERS).findOne({ '_id.kind': exactly(name) }, { projection: { _id: 1 } }),
  ]);
  const found = [...(service ? ['services'] : []), ...(consumer ? ['consumers'] : [])];
  if (found.length === 0) return;
  const sentence = `The kind "${name}" still has ${found.join(' and ')}.`;
  throw inUse(
    `${sentence} With purge=true it is removed with them.`,
    `${sentence} With --purge it is removed with them.`,
  );
}

/** Throws 409 if consumers have read a kind. */
export async function assertNoConsumers(db: mongo.Db, name: string): Promise<void> {
  const consumer = await db.collection(CONSUMERS).findOne({ '_id.kind': exactly(name) });
  if (consumer === null) return;
  const advice = `The kind "${name}" still has consumers. Remove the kind separately`;
  throw inUse(`${advice} with purge=true.`, `${advice} with --purge.`);
}

async function assertFree(db: mongo.Db, { name, collection }: KindDocument): Promise<void> {
  const other = await kindsOf(db).findOne({
    $or: [{ name: exactly(name) }, { collection: exactly(collection) }],
  });
  if (other === null) return;
  if (other['name'] === name)
    throw taken(`There is a kind "${name}" already. A kind is not edited: remove it and create it again.`);
  throw taken(
    `The collection "${collection}" is already used by the kind "${textOf(other['name'])}". Each kind has a collection of its own.`,
  );
}

function builtIn(name: string): Refused {
  return invalidParameter('kind', `The kind "${name}" is built in, and cannot be removed.`);
}

export function tooManyKinds(): Refused {
  const detail = `There can be at most ${MOST_KINDS} kinds. Remove one first.`;
  return new Refused(new Problem(409, 'too-many-kinds', 'There is no room for another kind', detail));
}

export function kindAction(action: `kind.${'create' | 'remove' | 'purge'}`, name: string): AuditedAction {
  return { action, target: `kind ${name}` };
}

function tenantOf({ organizationid, appid }: KindDocument): { organizationid: string; appid: string } {
  return { organizationid: String(organizationid), appid: String(appid) };
}
