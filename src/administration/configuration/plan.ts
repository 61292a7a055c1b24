import type { mongo } from 'mongoose';
import type { Filter, ServiceKey } from '../../application/index.js';
import { CREDENTIALS } from '../../auth/plain.js';
import { textOf, TimeSlice } from '../../platform/common/index.js';
import { problems } from '../../platform/http/plain.js';
import type { Tenant } from '../../record/index.js';
import { assertNoRecords, nameOfTenant } from '../applications.js';
import { tryFilter } from '../filter-trial.js';
import { type Preview, previewFilter } from '../preview.js';
import { newUsernameFault } from '../credentials.js';
import { usernameTaken } from '../passwords.js';
import { type FilterTurn, invalidAt, Refused, scopeTooNarrow, unknownApplication } from '../changes.js';
import type { ServiceEdit } from '../service-rules.js';
import { versionInForce, versionOf } from '../service-versions.js';
import { assertRoomForServices, type ServiceChange } from '../services.js';
import type { Configuration } from '../shapes.js';
import {
  assertSingle,
  differenceBetween,
  type PlannedChange,
  type PlannedChanges,
  thingsOf,
  assertKindsKnown,
  assertKindsPossible,
  createdCollections,
} from './difference.js';
import { type Reach, storedConfiguration } from './stored-configuration.js';

/**
 * Time limit for trying all changed filters on MongoDB, in ms. MongoDB refuses an invalid filter at once, so only slow
 * filters exceed the limit, and they are valid.
 */
const TRIALS_MS = 2000;

/** Maximum number of previews with samples in a plan. The samples of one preview take up to 96 KiB. */
const MOST_WITH_SAMPLES = 20;

/** The part of the configuration that is changed, and whether things that are not mentioned are removed. */
export interface PlanOptions {
  reach: Reach;
  isPruned: boolean;
}

/** The planned changes to what is stored now. */
export interface Comparison extends PlannedChanges {
  /** Entity tag of the stored configuration. */
  etag: string;
  /**
   * Descriptions of the stored documents that are left out of the comparison: invalid ones, and services beyond the
   * limits.
   */
  leftOut: string[];
}

/**
 * Compares a wanted configuration with the stored one. Throws 400 for a thing that occurs twice, and for kinds if the
 * reach is a single application; 403 or 404 for what is out of the caller's reach; and what {@link assertKindsKnown}
 * and {@link storedConfiguration} throw.
 */
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
  assertKindsKnown(difference.changes, things);
  return { ...difference, etag, leftOut };
}

/**
 * Throws if a change could not be made: 400 for an invalid user name and for a filter that MongoDB refuses; 409 for a
 * user name in use, for the removal of an application that still has records, and for services beyond the limits. Also
 * throws what {@link assertKindsPossible} throws.
 */
export async function assertPossible(
  db: mongo.Db,
  changes: PlannedChange[],
  reach: Reach,
  turn?: FilterTurn,
): Promise<void> {
  const ends = performance.now() + TRIALS_MS;
  await assertUsernames(db, changes, reach);
  await assertKindsPossible(db, changes);
  const collections = createdCollections(changes);
  for (const { action, thing } of changes) {
    if (action === 'remove' && thing.what === 'application') await assertNoRecords(db, thing.key);
  }
  for (const ofOne of servicesIn(changes).values()) await assertRoomForServices(db, ofOne[0]!.key, ofOne);
  for (const { key, filter, pointer } of versionsIn(changes)) {
    if (filter === undefined) continue;
    const left = Math.max(1, Math.ceil(ends - performance.now()));
    await tryFilter(db, { ...key, collection: collections.get(key.kind) }, filter, {
      maxTimeMS: left,
      turn,
    }).catch((error: unknown) => rethrowAt(pointer, error));
  }
}

/** Throws if a new credential cannot have its user name. */
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
  if (one !== null) throw await usernameTaken(db, textOf(one['username']), reach.coversCredential);
}

/** The previews of services that get another filter or other fields, by the `name` of the change. */
export type Previews = Map<string, Preview>;

/** How to make previews one after another. */
interface PlanPreviewOptions {
  /** Time limit of the next preview, in ms. If no time is left, the remaining ones are skipped. */
  msLeft: () => number;
  /** Runs a preview when its turn comes. If it returns undefined, the remaining ones are skipped. */
  during?: (
    of: Tenant,
    work: (signal: AbortSignal | undefined) => Promise<Preview>,
  ) => Promise<Preview | undefined>;
  onProgress?: (done: number) => void;
}

/** The services that get another filter or other fields, except for those of a kind that does not exist yet. */
export function previewed(changes: PlannedChange[]): ChangedVersion[] {
  const created = createdCollections(changes);
  return versionsIn(changes).filter(({ key }) => !created.has(key.kind));
}

/** Previews the {@link previewed} services, one after the other, as long as time is left. */
export async function previewsOf(
  db: mongo.Db,
  changes: PlannedChange[],
  { msLeft, during = (_of, work) => work(undefined), onProgress }: PlanPreviewOptions,
): Promise<Previews> {
  const previews: Previews = new Map();
  for (const [index, { key, name, pointer, ...edit }] of previewed(changes).entries()) {
    const maxTimeMS = msLeft();
    if (maxTimeMS <= 0) break;
    const [inForce, version] = [await versionInForce(db, key), await versionOf(db, key, edit)];
    const preview = await during(key, (signal) =>
      previewFilter(db, key, version, { inForce, maxTimeMS, ...(signal && { signal }) }),
    ).catch((error: unknown) => rethrowAt(pointer, error));
    if (preview === undefined) break;
    previews.set(name, index < MOST_WITH_SAMPLES ? preview : { ...preview, samples: [] });
    onProgress?.(index + 1);
  }
  return previews;
}

/** The changes of services, by application. */
function servicesIn(changes: PlannedChange[]): Map<string, ServiceChange[]> {
  const byApplication = new Map<string, ServiceChange[]>();
  for (const { action, thing, before } of changes) {
    if (thing.what !== 'service') continue;
    const name = nameOfTenant(thing.key);
    const change = { key: thing.key, ...(action !== 'remove' && { fields: thing.fields, before }) };
    const known = byApplication.get(name);
    if (known === undefined) byApplication.set(name, [change]);
    else known.push(change);
  }
  return byApplication;
}

/** The properties that decide what a service delivers. */
const DECIDING = ['filter', 'fields', 'hash'];

interface ChangedVersion extends ServiceEdit {
  key: ServiceKey;
  name: string;
  pointer: string;
}

/** The services that get another filter or other fields, each with the place of its filter in the configuration. */
function versionsIn(changes: PlannedChange[]): ChangedVersion[] {
  return changes.flatMap(({ action, thing, changed }) => {
    if (action === 'remove' || thing.what !== 'service') return [];
    if (!DECIDING.some((name) => changed.includes(name))) return [];
    const { key, name, pointer, fields } = thing;
    const { filter, fields: shown, hash, allowHiddenFilter } = fields;
    const edit = { filter: filter as Filter | undefined, fields: shown, hash, allowHiddenFilter };
    return [{ key, name, pointer: `${pointer}/filter`, ...edit }];
  });
}

/**
 * Throws if the configuration exceeds the reach. Kinds need a reach over all applications, an application out of scope
 * counts as not existing, and a credential must not have more rights than its issuer.
 */
function assertWithin(
  { covers, coversCredential, hasKinds, only }: Reach,
  { kinds = [], applications, credentials }: Configuration,
): void {
  if (kinds.length > 0 && only !== undefined)
    throw invalidAt(
      '/kinds',
      'apply to all applications. Omit them, or do not restrict the request to one application.',
    );
  if (kinds.length > 0 && !hasKinds) throw scopeTooNarrow();
  for (const tenant of applications ?? [])
    if (!covers(tenant)) throw unknownApplication(nameOfTenant(tenant));
  for (const { scopes } of credentials ?? [])
    if (!coversCredential({ scopes })) throw new Refused(problems.outOfScope());
}

function rethrowAt(pointer: string, error: unknown): never {
  throw error instanceof Refused ? invalidAt(pointer, error.problem.detail) : error;
}
