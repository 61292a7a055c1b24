import type { mongo } from 'mongoose';
import type { Filter, ServiceKey } from '../../application/index.js';
import { CREDENTIALS } from '../../auth/plain.js';
import { TimeSlice } from '../../common/index.js';
import { problems } from '../../http/plain.js';
import type { Tenant } from '../../record/index.js';
import { assertNoRecords, nameOfTenant } from '../applications.js';
import { tryFilter } from '../filter-trial.js';
import { type Preview, previewFilter } from '../preview.js';
import { newUsernameFault, usernameTaken } from '../credentials.js';
import { type FilterTurn, invalidAt, Refused, unknownApplication } from '../changes.js';
import { assertRoomForServices, filterInForce, type ServiceChange } from '../services.js';
import type { Configuration } from '../shapes.js';
import {
  assertSingle,
  differenceBetween,
  type PlannedChange,
  type PlannedChanges,
  thingsOf,
} from './difference.js';
import { type Reach, storedConfiguration } from './stored-configuration.js';

/** Milliseconds in which MongoDB looks at all filters that change; what it refuses it refuses at once. */
const TRIALS_MS = 2000;

/** Whose configuration is changed, and whether what is not told of is removed. */
export interface PlanOptions {
  reach: Reach;
  isPruned: boolean;
}

/** What would be done, against what is stored now. */
export interface Comparison extends PlannedChanges {
  /** Entity tag of what is stored. */
  etag: string;
  /** What is stored in a form that could not be applied, in words. */
  leftOut: string[];
}

/** Compares a wanted configuration with what is stored. Throws 400, 403 and 404 where it is not for the caller to want. */
export async function compare(
  db: mongo.Db,
  wanted: Configuration,
  { reach, isPruned }: PlanOptions,
  session?: mongo.ClientSession,
): Promise<Comparison> {
  const slice = new TimeSlice();
  const things = await slice.take(thingsOf(wanted));
  await slice.take(assertSingle(things));
  assertWithin(reach, wanted);
  const { configuration, etag, leftOut } = await storedConfiguration(db, reach, session);
  const stored = await slice.take(thingsOf(configuration));
  const difference = await slice.take(differenceBetween(stored, things, isPruned));
  return { ...difference, etag, leftOut };
}

/** Throws where a change could not be made: 400 for a filter that MongoDB refuses, 409 for a name, for records, and for services beyond the limits. */
export async function assertPossible(
  db: mongo.Db,
  changes: PlannedChange[],
  reach: Reach,
  turn?: FilterTurn,
): Promise<void> {
  const ends = performance.now() + TRIALS_MS;
  await assertUsernames(db, changes, reach);
  for (const { action, thing } of changes) {
    if (action === 'remove' && thing.what === 'application') await assertNoRecords(db, thing.key);
  }
  for (const ofOne of servicesIn(changes).values()) await assertRoomForServices(db, ofOne[0]!.key, ofOne);
  for (const { key, filter, pointer } of filtersIn(changes)) {
    const left = Math.max(1, Math.ceil(ends - performance.now()));
    await tryFilter(db, key, filter, { maxTimeMS: left, turn }).catch((error: unknown) =>
      rethrowAt(pointer, error),
    );
  }
}

/** Throws where a credential cannot be made under its user name. */
async function assertUsernames(db: mongo.Db, changes: PlannedChange[], reach: Reach): Promise<void> {
  const made = changes.flatMap(({ action, thing }) =>
    action === 'create' && thing.what === 'credential' ? [thing] : [],
  );
  for (const { key, pointer } of made) {
    const fault = newUsernameFault(key.username);
    if (fault !== undefined) throw invalidAt(`${pointer}/username`, fault);
  }
  const usernames = made.map(({ key }) => key.username);
  const one = await db.collection(CREDENTIALS).findOne({ username: { $in: usernames } });
  if (one !== null) throw await usernameTaken(db, String(one['username']), reach.coversCredential);
}

/** What a changed filter does, by the name of its service. */
export type Previews = Map<string, Preview>;

/** How previews are made one after the other. */
interface PreviewsMade {
  /** How long the next one may take (milliseconds); where nothing is left, the others are not made. */
  msLeft: () => number;
  /** Makes one when it may be; where that gives nothing, the others are not made. */
  during?: (
    of: Tenant,
    work: (signal: AbortSignal | undefined) => Promise<Preview>,
  ) => Promise<Preview | undefined>;
  onProgress?: (done: number) => void;
}

/** What each changed filter would do. */
export async function previewsOf(
  db: mongo.Db,
  changes: PlannedChange[],
  { msLeft, during = (_of, work) => work(undefined), onProgress }: PreviewsMade,
): Promise<Previews> {
  const previews: Previews = new Map();
  const filters = filtersIn(changes);
  for (const [index, { key, filter, name, pointer }] of filters.entries()) {
    const maxTimeMS = msLeft();
    if (maxTimeMS <= 0) break;
    const inForce = await filterInForce(db, key);
    const preview = await during(key, (signal) =>
      previewFilter(db, key, filter, { inForce, maxTimeMS, ...(signal && { signal }) }),
    ).catch((error: unknown) => rethrowAt(pointer, error));
    if (preview === undefined) break;
    previews.set(name, preview);
    onProgress?.(index + 1);
  }
  return previews;
}

/** The changes of services, by application. */
function servicesIn(changes: PlannedChange[]): Map<string, ServiceChange[]> {
  const byApplication = new Map<string, ServiceChange[]>();
  for (const { action, thing } of changes) {
    if (thing.what !== 'service') continue;
    const name = nameOfTenant(thing.key);
    const change = { key: thing.key, ...(action !== 'remove' && { fields: thing.fields }) };
    const known = byApplication.get(name);
    if (known === undefined) byApplication.set(name, [change]);
    else known.push(change);
  }
  return byApplication;
}

interface ChangedFilter {
  key: ServiceKey;
  filter: Filter;
  name: string;
  pointer: string;
}

/** The filters that the changes set, each with its place in the configuration. */
function filtersIn(changes: PlannedChange[]): ChangedFilter[] {
  return changes.flatMap(({ action, thing, changed }) => {
    if (action === 'remove' || thing.what !== 'service' || !changed.includes('filter')) return [];
    const { key, name, pointer, fields } = thing;
    return [{ key, filter: fields['filter'] as Filter, name, pointer: `${pointer}/filter` }];
  });
}

/** Applications out of scope are treated as if they did not exist; a credential gets no more rights than its issuer has. */
function assertWithin(
  { covers, coversCredential }: Reach,
  { applications, credentials }: Configuration,
): void {
  for (const tenant of applications ?? [])
    if (!covers(tenant)) throw unknownApplication(nameOfTenant(tenant));
  for (const { scopes } of credentials ?? [])
    if (!coversCredential({ scopes })) throw new Refused(problems.outOfScope());
}

function rethrowAt(pointer: string, error: unknown): never {
  throw error instanceof Refused ? invalidAt(pointer, error.problem.detail) : error;
}
