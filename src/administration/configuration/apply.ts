import type { mongo } from 'mongoose';
import { APPLICATIONS, SERVICES } from '../../application/plain.js';
import { CREDENTIALS, hashPassword } from '../../auth/plain.js';
import type { KindDocument } from '../../kinds/index.js';
import { isDuplicateKey, refusalsIn, transactionWithin } from '../../platform/database/plain.js';
import { allows, problems } from '../../platform/http/plain.js';
import { ofTenant, type Tenant } from '../../record/index.js';
import { removeSchemas } from '../../replication/schema/plain.js';
import { removeHashKey } from '../../replication/store/plain.js';
import { AUDIT_TRAIL, type AuditedAction } from '../../trail/plain.js';
import { applicationAction, applicationExists, nameOfTenant } from '../applications.js';
import { credentialAction, forgetUses, named } from '../credentials.js';
import { randomPassword } from '../passwords.js';
import { type ChangeContext, recordActions, Refused, usernameUnavailable } from '../changes.js';
import { dropIndexes, kindAction } from '../kinds.js';
import { kindsOf } from '../listed-kinds.js';
import { serviceAction, withKey } from '../services.js';
import type { Configuration } from '../shapes.js';
import type { PlannedChange } from './difference.js';
import { assertPossible, compare, type PlanOptions } from './plan.js';
import { exactly } from '../../platform/common/index.js';

/** The `_id` of a document that exists only within a transaction. */
const TURN = 'configuration.apply';

/** How often a configuration is compared that may be applied to any version. */
const MOST_TRIES = 5;

/** How long the transaction is repeated while it conflicts with others (milliseconds). */
const REPEATED_MS = 60_000;

interface ApplyOptions extends PlanOptions {
  /** Entity tag of the configuration that the plan was made against. Without it, any version may be changed. */
  ifMatch?: string | undefined;
  /** Maximum number of credentials that one call creates: each password is hashed, which takes time. */
  mostNew?: number;
}

/** The applied changes, and the passwords of the new credentials by user name. */
export interface Applied {
  changes: PlannedChange[];
  passwords: Record<string, string>;
}

/**
 * Changes the stored configuration to the wanted one, in one transaction. Throws 400, 403, 404 and 409, 412 if the
 * configuration has changed since the plan was made, and 503 if others have changed it each time before the transaction.
 */
export async function applyConfiguration(
  changeContext: ChangeContext,
  wanted: Configuration,
  options: ApplyOptions,
): Promise<Applied> {
  await changeContext.readKinds?.();
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const applied = await applyUnlessChanged(changeContext, wanted, options);
    if (applied !== undefined) return applied;
  }
  throw new Refused(problems.queryTimeout({ isOfTransaction: true }));
}

/** Undefined if the configuration has changed between the comparison and the transaction. */
async function applyUnlessChanged(
  changeContext: ChangeContext,
  wanted: Configuration,
  { ifMatch, mostNew = Infinity, ...options }: ApplyOptions,
): Promise<Applied | undefined> {
  const { db } = changeContext;
  const first = await compare(db, wanted, options);
  if (!allows(ifMatch, first.etag)) throw new Refused(problems.stale(ifMatch));
  await assertPossible(db, first.changes, options.reach, changeContext.turn);
  const secrets = await secretsFor(first.changes, mostNew);
  const makeChanges = async (session: mongo.ClientSession) => {
    const now = await compare(db, wanted, options, session);
    if (now.etag !== first.etag) return false;
    await takeTurn(db, session);
    await writeAll(db, inOrder(first.changes), secrets, session);
    await recordActions(changeContext, first.changes.map(auditedAction), session);
    return true;
  };
  const isMade = await transactionWithin(db.client, REPEATED_MS, makeChanges, {
    readConcern: { level: 'snapshot' },
  });
  if (!isMade) return undefined;
  // The changes are committed, so the passwords must reach the caller even if what follows fails.
  // First, because MongoDB drops no index of a collection while it builds those of the new kind there.
  await dropIndexesOfRemoved(db, first.changes);
  await forgetUses(db, [...secrets.keys()]).catch(() => undefined);
  await removeOrphans(db, first.changes).catch(() => undefined);
  if (first.changes.some(({ thing }) => thing.what === 'kind'))
    await changeContext.readKinds?.().catch(() => undefined);
  const passwords = [...secrets].map(([username, { password }]) => [username, password]);
  return { changes: first.changes, passwords: Object.fromEntries(passwords) as Applied['passwords'] };
}

/**
 * Makes concurrent transactions conflict. They may write different documents, and then each would otherwise succeed
 * without seeing the writes of the other. One of them now gets a write conflict, is retried, and compares again.
 */
async function takeTurn(db: mongo.Db, session: mongo.ClientSession): Promise<void> {
  const turns = db.collection<{ _id: string }>(AUDIT_TRAIL);
  await turns.insertOne({ _id: TURN }, { session });
  await turns.deleteOne({ _id: TURN }, { session });
}

/** Kinds are removed first: one that is created may use the collection of one that is removed. */
function inOrder(changes: PlannedChange[]): PlannedChange[] {
  const isFirst = ({ action, thing }: PlannedChange) => action === 'remove' && thing.what === 'kind';
  return [...changes.filter(isFirst), ...changes.filter((change) => !isFirst(change))];
}

/** Removes services that were written while their application was removed. */
async function removeOrphans(db: mongo.Db, changes: PlannedChange[]): Promise<void> {
  const applications = new Map<string, Tenant>();
  for (const { action, thing } of changes)
    if (thing.what === 'service' && action !== 'remove') applications.set(nameOfTenant(thing.key), thing.key);
  for (const tenant of applications.values())
    if (!(await applicationExists(db, tenant))) await db.collection(SERVICES).deleteMany(ofTenant(tenant));
}

/** Removes the indexes of removed kinds, apart from those that a created kind needs in the same collection. */
async function dropIndexesOfRemoved(db: mongo.Db, changes: PlannedChange[]): Promise<void> {
  const kinds = (wanted: 'create' | 'remove') =>
    changes.flatMap(({ action, thing }) =>
      thing.what === 'kind' && action === wanted
        ? [{ ...thing.key, ...withValues(thing.fields) } as KindDocument]
        : [],
    );
  const created = new Map(kinds('create').map((kind) => [kind.collection, kind]));
  for (const { collection } of kinds('remove')) await dropIndexes(db, collection, created.get(collection));
}

type Secrets = Map<string, { password: string; passwordhash: string }>;

async function secretsFor(changes: PlannedChange[], most: number): Promise<Secrets> {
  const usernames = changes.flatMap(({ action, thing }) =>
    action === 'create' && thing.what === 'credential' ? [thing.key.username] : [],
  );
  if (usernames.length > most) {
    const detail = `has ${usernames.length} new credentials; at most ${most} can be created at a time.`;
    throw new Refused(problems.invalidRequest([{ pointer: '/credentials', detail }]));
  }
  const secrets: Secrets = new Map();
  for (const username of usernames) {
    const password = randomPassword();
    secrets.set(username, { password, passwordhash: await hashPassword(password) });
  }
  return secrets;
}

/**
 * Writes the changes of each collection together. A transaction ends after a minute and may have thousands of documents
 * to write. To write them one by one would need one round trip to the database for each.
 */
async function writeAll(
  db: mongo.Db,
  changes: PlannedChange[],
  secrets: Secrets,
  session: mongo.ClientSession,
): Promise<void> {
  const writes = new Map<string, { changes: PlannedChange[]; bulk: mongo.AnyBulkWriteOperation[] }>();
  for (const change of changes) {
    const { collection, which } = documentOf(db, change.thing);
    const { collectionName } = collection;
    const known = writes.get(collectionName) ?? { changes: [], bulk: [] };
    known.changes.push(change);
    known.bulk.push(writeOf(change, which, secrets));
    writes.set(collectionName, known);
  }
  for (const [name, { changes: made, bulk }] of writes)
    await db
      .collection(name)
      .bulkWrite(bulk, { session })
      .catch((error: unknown) => {
        const refused = isDuplicateKey(error) ? made[refusalsIn(error)[0]!.index]?.thing : undefined;
        throw refused?.what === 'credential' ? usernameUnavailable(refused.key.username) : error;
      });
  for (const { action, thing } of changes) {
    if (action !== 'remove' || thing.what !== 'application') continue;
    // Those that were not part of the configuration would come back with the name of the application.
    await db.collection(SERVICES).deleteMany(ofTenant(thing.key), { session });
    await removeHashKey(db, thing.key, session);
    await removeSchemas(db, thing.key, session);
  }
}

function writeOf(
  { action, thing }: PlannedChange,
  which: mongo.Document,
  secrets: Secrets,
): mongo.AnyBulkWriteOperation {
  if (action === 'remove') return { deleteOne: { filter: which } };
  const values = { ...thing.key, ...withValues(thing.fields) };
  if (thing.what === 'credential' && action === 'create') {
    const { passwordhash } = secrets.get(thing.key.username)!;
    return { insertOne: { document: { ...values, passwordhash } } };
  }
  const none = Object.keys(thing.fields).filter((name) => thing.fields[name] === undefined);
  const $unset = Object.fromEntries(none.map((name) => [name, '']));
  return { updateOne: { filter: which, update: { $set: values, $unset }, upsert: true } };
}

function documentOf(
  db: mongo.Db,
  { what, key }: PlannedChange['thing'],
): { collection: mongo.Collection; which: mongo.Document } {
  switch (what) {
    case 'kind':
      return { collection: kindsOf(db), which: { name: exactly(key.name) } };
    case 'application':
      return { collection: db.collection(APPLICATIONS), which: ofTenant(key) };
    case 'service':
      return { collection: db.collection(SERVICES), which: withKey(key) };
    case 'credential':
      return { collection: db.collection(CREDENTIALS), which: named(key.username) };
  }
}

function withValues(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function auditedAction({ action, thing, changed }: PlannedChange): AuditedAction {
  const names = action === 'change' ? changed : undefined;
  switch (thing.what) {
    case 'kind':
      return kindAction(action === 'remove' ? 'kind.remove' : 'kind.create', thing.key.name);
    case 'application':
      return applicationAction(`application.${action}`, thing.key, names);
    case 'service':
      return serviceAction(action === 'remove' ? 'service.remove' : 'service.set', thing.key, names);
    case 'credential': {
      const done = { create: 'issue', change: 'change', remove: 'revoke' } as const;
      return credentialAction(`credential.${done[action]}`, { ...thing.key, ...thing.fields }, names);
    }
  }
}
