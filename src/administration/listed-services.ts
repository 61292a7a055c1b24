import type { mongo } from 'mongoose';
import { MOST_SERVICE_BYTES, MOST_SERVICES, SERVICES, type StoredService } from '../application/plain.js';
import { count, literal, textOf, TimeSlice } from '../platform/common/index.js';
import { documentOf, ofTenant, type Tenant } from '../record/index.js';
import { nameAt } from '../replication/store/plain.js';

/** Bytes of BSON read per batch. Other requests are served between batches. */
const PORTION_BYTES = 512 * 1024;
/** Maximum number of applications whose services one query reads. */
const PORTION_APPLICATIONS = 100;
/**
 * Maximum size of an `_id` by which a service is read, in bytes of BSON. If an application exceeds its limits, a
 * service with a larger `_id` is left out.
 */
const LONGEST_ID = 1024;

/** Time limit of each read of a list, in ms. Few lists are read at once, and a slow one keeps others waiting. */
const READ_MS = 30_000;

/** Options for each read of a list. */
export const LISTING = { maxTimeMS: READ_MS, comment: 'tidemark list' } as const;

const BYTES = { $bsonSize: '$$ROOT' };
/** A value that is not a string, or that is too long for a name, counts as the empty name. */
const NAMES = { organizationid: nameAt('$organizationid'), appid: nameAt('$appid') };

/** The size of an application's stored services, and which of them are within its limits. */
interface Measured extends Tenant {
  services: number;
  /** Bytes of BSON of the services within the limits. */
  bytes: number;
  /** `_id`s of the services within the limits; undefined means all. */
  ids?: unknown[];
}

/** The number of an application's services beyond its limits. */
interface LeftOut extends Tenant {
  services: number;
}

/** Which services are listed. */
interface ListedOf {
  /** A filter by organization or application. */
  which: mongo.Document;
  covers?: (tenant: Tenant) => boolean;
  /** Called with the number of bytes before they are read. */
  assertRoom?: (bytes: number) => void;
  session?: mongo.ClientSession | undefined;
}

interface ListedServices {
  /** Sorted by organization, application, kind and name. */
  services: StoredService[];
  leftOut: LeftOut[];
}

/**
 * Lists stored services, and of each application only those within its limits: other programs write this collection
 * without limits. If all `_id`s are ObjectIds, the services that are left out are those that are not served
 * (`RegisteredServices`): the last ones by `_id`, and those that are too large for the remaining bytes. Sizes are read
 * first, so that a service that is left out is never read.
 */
export async function listServices(db: mongo.Db, listed: ListedOf): Promise<ListedServices> {
  const { assertRoom = () => undefined, session } = listed;
  const measured = await measure(db, listed);
  assertRoom(measured.reduce((sum, { bytes }) => sum + bytes, 0));
  const services: StoredService[] = [];
  for (const portion of portionsOf(measured)) {
    const { bytes, services: many } = sumOf(portion);
    const found = servicesOf(db).find(
      { $or: portion.map(amongThese) },
      {
        ...{ projection: { _id: 0 }, raw: true, batchSize: batchSizeFor(many, bytes) },
        ...LISTING,
        ...(session && { session }),
      },
    );
    for (const service of inOrder(await readAll<StoredService>(found))) services.push(service);
  }
  return { services, leftOut: measured.flatMap(beyond) };
}

/** Reads documents that the driver returns as bytes. Other requests are served in between. */
export async function readAll<T extends mongo.Document>(found: AsyncIterable<unknown>): Promise<T[]> {
  const all: T[] = [];
  const slice = new TimeSlice();
  for await (const one of found) {
    all.push(documentOf<T>(one));
    await slice.step();
  }
  return all;
}

/** How many documents to read per batch, given their number and total size in bytes. */
export function batchSizeFor(documents: number, bytes: number): number {
  return Math.max(1, Math.floor((documents * PORTION_BYTES) / Math.max(1, bytes)));
}

/** A sentence about the services that are left out. */
export function leftOutText({ organizationid, appid, services }: LeftOut): string {
  const most = `${count(MOST_SERVICES)} services, of ${count(MOST_SERVICE_BYTES)} bytes in total`;
  return `${count(services)} services of ${organizationid}/${appid}: an application has at most ${most}.`;
}

/** The sizes of the services of each application. */
async function measure(db: mongo.Db, { which, covers = () => true, session }: ListedOf): Promise<Measured[]> {
  const found = await servicesOf(db)
    .aggregate<{ _id: Tenant; services: number; bytes: number }>(
      [
        { $match: which },
        { $group: { _id: NAMES, services: { $sum: 1 }, bytes: { $sum: BYTES } } },
        { $sort: { _id: 1 } },
      ],
      { ...LISTING, ...(session && { session }) },
    )
    .toArray();
  const measured: Measured[] = [];
  for (const { _id: tenant, services, bytes } of found) {
    if (!covers(tenant)) continue;
    const fits = services <= MOST_SERVICES && bytes <= MOST_SERVICE_BYTES;
    const part = fits ? { bytes } : await withinLimits(db, tenant, session);
    measured.push({ ...tenant, services, ...part });
  }
  return measured;
}

async function withinLimits(
  db: mongo.Db,
  tenant: Tenant,
  session: mongo.ClientSession | undefined,
): Promise<Pick<Measured, 'bytes' | 'ids'>> {
  const found = servicesOf(db).aggregate<{ _id: unknown; bytes: number }>(
    [
      { $match: ofApplication(tenant) },
      {
        $match: {
          $expr: {
            $and: [
              { $lte: [BYTES, MOST_SERVICE_BYTES] },
              { $lte: [{ $bsonSize: { _id: '$_id' } }, LONGEST_ID] },
            ],
          },
        },
      },
      { $project: { bytes: BYTES } },
      { $sort: { _id: 1 } },
      { $limit: MOST_SERVICES },
    ],
    { ...LISTING, ...(session && { session }) },
  );
  const ids: unknown[] = [];
  let bytes = 0;
  for await (const one of found) {
    if (bytes + one.bytes > MOST_SERVICE_BYTES) continue;
    bytes += one.bytes;
    ids.push(one._id);
  }
  return { bytes, ids };
}

/**
 * Groups applications whose services are read by one query: at most {@link PORTION_APPLICATIONS}, with at most
 * {@link PORTION_BYTES} together unless the group is a single application.
 */
function portionsOf(measured: Measured[]): Measured[][] {
  const portions: Measured[][] = [];
  let last: Measured[] | undefined;
  for (const one of measured) {
    const isFull =
      last === undefined ||
      last.length === PORTION_APPLICATIONS ||
      sumOf(last).bytes + one.bytes > PORTION_BYTES;
    if (isFull) portions.push((last = []));
    last!.push(one);
  }
  return portions;
}

function sumOf(measured: Measured[]): { services: number; bytes: number } {
  const sum = { services: 0, bytes: 0 };
  for (const { services, bytes, ids } of measured) {
    sum.services += ids?.length ?? services;
    sum.bytes += bytes;
  }
  return sum;
}

function amongThese({ ids, ...tenant }: Measured): mongo.Document {
  return ids === undefined ? ofApplication(tenant) : { _id: { $in: ids } };
}

function beyond({ organizationid, appid, services, ids }: Measured): LeftOut[] {
  const beyondLimits = ids === undefined ? 0 : services - ids.length;
  return beyondLimits === 0 ? [] : [{ organizationid, appid, services: beyondLimits }];
}

function ofApplication({ organizationid, appid }: Tenant): mongo.Document {
  if (organizationid !== '' && appid !== '') return ofTenant({ organizationid, appid });
  const are = [
    { $eq: [NAMES.organizationid, literal(organizationid)] },
    { $eq: [NAMES.appid, literal(appid)] },
  ];
  return { $expr: { $and: are } };
}

function inOrder(services: StoredService[]): StoredService[] {
  const keyed = services.map((service) => {
    const { organizationid, appid, kind, name } = service;
    return { service, key: [organizationid, appid, kind, name].map(textOf).join('\0') };
  });
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ service }) => service);
}

function servicesOf(db: mongo.Db): mongo.Collection {
  return db.collection(SERVICES);
}
