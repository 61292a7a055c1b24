import mongoose, { type mongo, Schema } from 'mongoose';
import type { Tenant } from '../record/index.js';

/** The author of a change: a credential over HTTP, or a person who runs a command with the database's address. */
export interface Actor {
  /** User name of the credential, or of the operating system's user. */
  who: string;
  via: 'http' | 'command';
  /** Address of the client, or name of the machine. */
  from: string;
  requestId?: string;
}

/** An action, such as `service.set`, and its target. Names only: never a secret or a value. */
export interface AuditedAction {
  action: string;
  organizationid?: string;
  appid?: string;
  /** The target, such as `product service bikes` or `member 4711`. */
  target: string;
  /** Names of the properties that changed. */
  changed?: string[];
}

/** A document of the audit trail. */
export interface TrailEntry extends Actor, AuditedAction {
  _id: mongo.ObjectId;
  at: Date;
  /** When the entry is deleted. */
  expires: Date;
}

/** Name of the collection. */
export const AUDIT_TRAIL = 'tidemark.audittrail';

/** Name of the Mongoose model of the audit trail. */
const AUDIT_TRAIL_MODEL = 'AuditTrail';

/**
 * The first index serves lists of the entries of an organization, the newest first; the index of `_id` serves those of
 * all organizations. By the second, MongoDB deletes each entry when its `expires` has passed.
 */
const auditTrailSchema = new Schema<TrailEntry>(
  {},
  { collection: AUDIT_TRAIL, strict: false, versionKey: false },
)
  .index({ organizationid: 1, _id: -1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

/** The models of this module. */
export const trailModels = [{ name: AUDIT_TRAIL_MODEL, schema: auditTrailSchema }];

const DAY_MS = 86_400_000;
const { ObjectId } = mongoose.mongo;

/** The entry of a change, kept for a number of days from now. */
export function trailEntry(actor: Actor, audited: AuditedAction, days: number): TrailEntry {
  const at = new Date();
  return { _id: new ObjectId(), at, ...actor, ...audited, expires: new Date(at.getTime() + days * DAY_MS) };
}

/** Writes entries, in a transaction if a session is given. */
export async function writeTrail(
  db: mongo.Db,
  entries: TrailEntry[],
  session?: mongo.ClientSession,
): Promise<void> {
  const options = session === undefined ? { ordered: false } : { session };
  await db.collection<TrailEntry>(AUDIT_TRAIL).insertMany(entries, options);
}

/** A selection of entries: those before a given one, of some organizations or of all, at most `limit`. */
interface TrailPage {
  organizationids?: string[] | undefined;
  before?: mongo.ObjectId | undefined;
  limit: number;
}

/** Entries of the audit trail, the newest first. */
export function readTrail(
  db: mongo.Db,
  { organizationids, before, limit }: TrailPage,
): Promise<TrailEntry[]> {
  return db
    .collection<TrailEntry>(AUDIT_TRAIL)
    .find(
      {
        ...(organizationids !== undefined && { organizationid: { $in: organizationids } }),
        ...(before !== undefined && { _id: { $lt: before } }),
      },
      { sort: { _id: -1 }, limit, projection: { expires: 0 } },
    )
    .toArray();
}

/** Maximum time for a scan of the entries of an organization (milliseconds). */
const REDACT_MS = 60_000;

/**
 * Replaces a target in the entries of an application, and removes their list of changed properties, because names of
 * properties may be personal too. Returns the number of these entries.
 */
export async function redactTarget(
  db: mongo.Db,
  { organizationid, appid }: Tenant,
  target: string,
  instead: string,
): Promise<number> {
  const { modifiedCount } = await db
    .collection<TrailEntry>(AUDIT_TRAIL)
    .updateMany(
      { organizationid, appid, target },
      { $set: { target: instead }, $unset: { changed: '' } },
      { maxTimeMS: REDACT_MS },
    );
  return modifiedCount;
}
