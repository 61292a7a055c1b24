import type { mongo } from 'mongoose';
import { exactly } from '../../platform/common/index.js';
import { isKind, type KindDocument, kindNames } from '../../kinds/index.js';
import { MOST_KINDS, type Tenant } from '../../record/index.js';
import { applicationExists, fixedKindRefusal, nameOfTenant } from '../applications.js';
import { invalidAt } from '../changes.js';
import { assertNoConsumers, assertServable, tooManyKinds } from '../kinds.js';
import { kindsOf } from '../listed-kinds.js';
import type { PlannedChange, Thing } from './difference.js';

/** The changes of kinds in a plan. */
interface KindChanges {
  created: { kind: KindDocument; pointer: string }[];
  removed: Set<string>;
}

function kindChangesIn(changes: PlannedChange[]): KindChanges {
  const ofKinds = changes.filter(({ thing }) => thing.what === 'kind');
  const named = (action: PlannedChange['action']) => ofKinds.filter((one) => one.action === action);
  return {
    created: named('create').map(({ thing, pointer }) => ({ kind: kindIn(thing), pointer })),
    removed: new Set(named('remove').map(({ thing }) => kindIn(thing).name)),
  };
}

function kindIn({ key, fields }: Thing): KindDocument {
  return { ...key, ...fields } as unknown as KindDocument;
}

/** The collections of the kinds that a plan creates, by name. */
export function createdCollections(changes: PlannedChange[]): Map<string, string> {
  return new Map(kindChangesIn(changes).created.map(({ kind }) => [kind.name, kind.collection]));
}

/** Throws 400 for an edit of a kind, and for a service of a kind that there will not be. */
export function assertKindsKnown(changes: PlannedChange[], wanted: Thing[]): void {
  const edit = changes.find(({ action, thing }) => thing.what === 'kind' && action === 'change');
  if (edit !== undefined)
    throw invalidAt(
      edit.pointer,
      `differs from the stored kind in ${edit.changed.join(', ')}. A kind is not edited: remove it and create it again.`,
    );
  const { created, removed } = kindChangesIn(changes);
  const isThere = (kind: string) =>
    (isKind(kind) && !removed.has(kind)) || created.some((one) => one.kind.name === kind);
  for (const { what, key, pointer } of wanted) {
    if (what !== 'service' || isThere(key.kind)) continue;
    const names = [
      ...kindNames().filter((one) => !removed.has(one)),
      ...created.map(({ kind }) => kind.name),
    ];
    throw invalidAt(`${pointer}/kind`, `is not one of ${names.join(', ')}.`);
  }
}

/**
 * Throws if kinds could not be created or removed: 400 for a collection that cannot be served and for an application that does
 * not exist, 409 for one that is in use, for a kind that consumers have read, and beyond the maximum.
 */
export async function assertKindsPossible(db: mongo.Db, changes: PlannedChange[]): Promise<void> {
  const { created, removed } = kindChangesIn(changes);
  for (const name of removed) await assertNoConsumers(db, name);
  await assertApplicationsStay(db, changes, removed);
  const stays = { name: { $nin: [...removed] } };
  if (created.length > 0 && (await kindsOf(db).countDocuments(stays)) + created.length > MOST_KINDS)
    throw tooManyKinds();
  for (const [index, { kind, pointer }] of created.entries()) {
    const { name, collection } = kind;
    await assertServable(db, kind, `${pointer}/collection`);
    const others = [{ name: exactly(name) }, { collection: exactly(collection) }];
    const stored = await kindsOf(db).findOne<KindDocument>({ $and: [stays, { $or: others }] });
    const before = created.slice(0, index).find((one) => one.kind.collection === collection);
    const owner = stored?.name ?? before?.kind.name;
    if (owner !== undefined)
      throw invalidAt(
        `${pointer}/collection`,
        `"${collection}" is that of the kind "${owner}". Each kind has a collection of its own.`,
      );
    await assertApplicationOf(db, kind, pointer, changes);
  }
}

/** Throws 409 if an application would be removed to which a kind stays fixed. */
async function assertApplicationsStay(
  db: mongo.Db,
  changes: PlannedChange[],
  removed: Set<string>,
): Promise<void> {
  for (const { action, thing } of changes) {
    if (action !== 'remove' || thing.what !== 'application') continue;
    const refusal = await fixedKindRefusal(db, thing.key, (kind) => removed.has(kind));
    if (refusal !== undefined) throw refusal;
  }
}

/** Throws 400 if the application that a kind is fixed to will not exist. */
async function assertApplicationOf(
  db: mongo.Db,
  { organizationid = '', appid = '' }: KindDocument,
  pointer: string,
  changes: PlannedChange[],
): Promise<void> {
  if (organizationid === '') return;
  const tenant: Tenant = { organizationid, appid };
  const own = changes.find(
    ({ thing }) => thing.what === 'application' && nameOfTenant(thing.key) === nameOfTenant(tenant),
  );
  const exists = own === undefined ? await applicationExists(db, tenant) : own.action !== 'remove';
  if (!exists)
    throw invalidAt(
      `${pointer}/organizationid`,
      `names no application: there is no ${nameOfTenant(tenant)}.`,
    );
}
