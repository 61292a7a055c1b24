import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { importRecords } from '../administration/cli/import/index.js';
import {
  applicationExists,
  createApplication,
  credentialExists,
  type ChangeContext,
  issueCredential,
  listApplications,
  randomPassword,
  rotateCredential,
  setService,
} from '../administration/index.js';
import type { Filter } from '../application/index.js';
import type { Level } from '../auth/index.js';
import { databaseProblem } from '../platform/database/index.js';
import { Problem } from '../platform/http/index.js';
import { collectionOf, type Kind } from '../kinds/index.js';
import type { Tenant } from '../record/index.js';
import { FILTER_VERSIONS } from '../replication/store/plain.js';
import { LEDGER } from '../replication/store/index.js';
import { DEMO, demoMembers, demoProducts, type DemoRecord } from './generator.js';
import { type DemoCredentials, demoLines, type DemoLogin } from './lines.js';

const UNAVAILABLE = 503;
const PAUSE_MS = 50;

const PRODUCTS = 3000;
const DISCONTINUED = 3;
const MEMBERS = 1000;
const POLL_MS = 50;

const SERVICES: { kind: Kind; name: string; filter: Filter }[] = [
  { kind: 'product', name: 'bikes', filter: { 'data.category': 'bikes' } },
  { kind: 'member', name: 'newsletter', filter: { 'data.extrafields.consent.newsletter': true } },
];

const EVERYTHING: Tenant = { organizationid: '*', appid: '*' };
const FILE = 'demo-credentials.json';

/** The properties of the running service that the demo needs. `max` returns the offset of the demo's products. */
interface DemoPlace {
  dataDir: string;
  auditTrailDays: number;
  baseUrl: string;
  docs: boolean;
  console: boolean;
  max: () => Promise<Date>;
}

/**
 * Creates the demo if no application exists yet, and returns the lines to paste. It returns no lines if there are only other
 * applications. The watcher must be running. The demo is retried while the database is unavailable or the watcher lags.
 */
export async function demo(db: mongo.Db, place: DemoPlace): Promise<string[]> {
  for (;;) {
    try {
      return await makeAndShow(db, place);
    } catch (error) {
      const problem = error instanceof Problem ? error : databaseProblem(error);
      if (problem?.status !== UNAVAILABLE) throw error;
      await wait(PAUSE_MS);
    }
  }
}

/** The application is created last, so that an interrupted start creates everything again. */
async function makeAndShow(db: mongo.Db, place: DemoPlace): Promise<string[]> {
  const isFirstStart = !(await applicationExists(db, DEMO));
  if (isFirstStart && (await listApplications(db)).length > 0) return [];
  const actor = { who: 'demo', via: 'command', from: hostname() } as const;
  const changeContext = { db, actor, auditTrailDays: place.auditTrailDays };
  const credentials = await demoCredentials(changeContext, {
    dataDir: place.dataDir,
    tenant: DEMO,
    isFirstStart,
  });
  if (isFirstStart) await makeDemo(changeContext);
  const [, second] = await db
    .collection(collectionOf('product'))
    .find({ ...DEMO }, { sort: { _id: 1 }, limit: 2 })
    .toArray();
  const offset = (await place.max()).toISOString();
  return demoLines({ ...place, credentials, offset, secondProduct: second?._id.toHexString() ?? '' });
}

/**
 * Creates the demo application and its records. The application comes last, so that an interrupted start is repeated. The
 * last products are deleted to produce hard deletes, which requires a running watcher.
 */
async function makeDemo(changeContext: ChangeContext): Promise<void> {
  const { db } = changeContext;
  const products = demoProducts(PRODUCTS + DISCONTINUED);
  await write(db, 'product', products);
  await write(db, 'member', demoMembers(MEMBERS));
  await discontinue(
    db,
    products.slice(PRODUCTS).map(({ id }) => id),
  );
  for (const { kind, name, filter } of SERVICES)
    await setService(changeContext, { ...DEMO, kind, name }, { filter }, { isEarly: true });
  await until(async () => (await db.collection(FILTER_VERSIONS).countDocuments(DEMO)) >= SERVICES.length);
  await createApplication(changeContext, DEMO, { title: 'Demo shop' });
}

/** Deletes products, and waits until the watcher has stored their tombstones. */
async function discontinue(db: mongo.Db, ids: string[]): Promise<void> {
  await db.collection(collectionOf('product')).deleteMany({ ...DEMO, id: { $in: ids } });
  await until(
    async () => (await db.collection(LEDGER).countDocuments({ ...DEMO, alive: false })) >= ids.length,
  );
}

/** Waits for a result of the watcher. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(POLL_MS);
}

async function write(db: mongo.Db, kind: Kind, records: DemoRecord[]): Promise<void> {
  const lines = records.map((record) => Buffer.from(`${JSON.stringify(record)}\n`));
  await importRecords(db, { source: Readable.from(lines), tenant: DEMO, kind, createdBy: 'demo' });
}

/**
 * The demo's logins: random on the first start, unchanged on later ones. They are stored in the data directory, readable
 * only by its owner, because the database holds no passwords. If that file is lost, the logins get new passwords.
 */
async function demoCredentials(
  changeContext: ChangeContext,
  { dataDir, tenant, isFirstStart }: { dataDir: string; tenant: Tenant; isFirstStart: boolean },
): Promise<DemoCredentials> {
  const file = join(dataDir, FILE);
  const kept = isFirstStart ? undefined : await readLogins(file);
  if (kept?.admin !== undefined) return { ...kept, admin: kept.admin };
  const credentials = {
    read: kept?.read ?? (await newLogin(changeContext, 'demo-reader', 'read', tenant)),
    write: kept?.write ?? (await newLogin(changeContext, 'demo-writer', 'write', tenant)),
    admin: await newLogin(changeContext, 'demo-admin', 'admin', EVERYTHING),
  };
  await writeLogins(file, credentials);
  return credentials;
}

async function newLogin(
  changeContext: ChangeContext,
  username: string,
  level: Level,
  scope: Tenant,
): Promise<DemoLogin> {
  const password = randomPassword();
  if (await credentialExists(changeContext.db, username))
    await rotateCredential(changeContext, username, password);
  else await issueCredential(changeContext, { username, level, scopes: [scope] }, password);
  return { username, password };
}

/** A data directory of an earlier version has no administration login. */
type KeptLogins = Omit<DemoCredentials, 'admin'> & { admin?: DemoLogin };

async function readLogins(file: string): Promise<KeptLogins | undefined> {
  try {
    const kept = JSON.parse(await readFile(file, 'utf8')) as Partial<DemoCredentials>;
    return isLogin(kept.read) && isLogin(kept.write) ? (kept as KeptLogins) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the file atomically. At no time can other users read it. */
async function writeLogins(file: string, credentials: DemoCredentials): Promise<void> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  await writeFile(part, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(part, file);
}

function isLogin(login: Partial<DemoLogin> | undefined): boolean {
  return typeof login?.username === 'string' && typeof login.password === 'string';
}
