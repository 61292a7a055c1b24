import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { importRecords } from '../admin/import/index.js';
import { createApplication, type Desk, setService } from '../administration/index.js';
import type { Filter } from '../application/index.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../record/index.js';
import { FILTER_VERSIONS } from '../replication/filters/index.js';
import { LEDGER } from '../replication/ledger/index.js';
import { demoMembers, demoProducts, type DemoRecord } from './generator.js';

export const DEMO: Tenant = { organizationid: 'demo', appid: 'shop' };

const PRODUCTS = 3000;
const DISCONTINUED = 3;
const MEMBERS = 1000;
const LOOK_MS = 50;

const SERVICES: { kind: Kind; name: string; filter: Filter }[] = [
  { kind: 'product', name: 'bikes', filter: { 'data.category': 'bikes' } },
  { kind: 'member', name: 'newsletter', filter: { 'data.extrafields.consent.newsletter': true } },
];

/**
 * Makes the demo application and its records; the application comes last, so that a start that was cut off does it
 * again. The last products are deleted, for there to be hard deletes to see; the watcher must be at work for that.
 */
export async function makeDemo(desk: Desk): Promise<void> {
  const { db } = desk;
  const products = demoProducts(PRODUCTS + DISCONTINUED);
  await write(db, 'product', products);
  await write(db, 'member', demoMembers(MEMBERS));
  await discontinue(
    db,
    products.slice(PRODUCTS).map(({ id }) => id),
  );
  for (const { kind, name, filter } of SERVICES)
    await setService(desk, { ...DEMO, kind, name }, { filter }, { isEarly: true });
  await until(async () => (await db.collection(FILTER_VERSIONS).countDocuments(DEMO)) >= SERVICES.length);
  await createApplication(desk, DEMO, { title: 'Demo shop' });
}

/** Deletes products and waits until the watcher has named them. */
async function discontinue(db: mongo.Db, ids: string[]): Promise<void> {
  await db.collection(COLLECTION_OF.product).deleteMany({ ...DEMO, id: { $in: ids } });
  await until(
    async () => (await db.collection(LEDGER).countDocuments({ ...DEMO, alive: false })) >= ids.length,
  );
}

/** Waits for something that the watcher does. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(LOOK_MS);
}

async function write(db: mongo.Db, kind: Kind, records: DemoRecord[]): Promise<void> {
  const lines = records.map((record) => Buffer.from(`${JSON.stringify(record)}\n`));
  await importRecords(db, { source: Readable.from(lines), tenant: DEMO, kind, createdBy: 'demo' });
}
