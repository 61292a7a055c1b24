import { mongo } from 'mongoose';
import { literal } from '../../platform/common/index.js';
import type { Identity } from '../protocol/index.js';
import type { ShownBehind } from './shown-identities.js';
import { type Concern, type LastKnown, QUARANTINE, type SetAside } from './collections.schema.js';

const LONGEST_REASON = 500;
const MOST_IDENTITIES = 100;
const AT_ONCE = 1000;
const FOLLOWS = 'An earlier change of the same record was set aside';

/** An addition to a quarantine entry. */
export interface Addition {
  concern: Concern;
  /** The failure; undefined if only an earlier event failed. */
  reason: string | undefined;
  events: number;
  refusals: number;
  identities: Identity[];
  known?: LastKnown;
  above?: Date | undefined;
}

/** Adds what is known of the record after one of its events. */
export function withShown(addition: Addition, shown: ShownBehind | undefined): Addition {
  if (shown === undefined) return addition;
  const { identity, known } = shown;
  return { ...addition, known, identities: [...addition.identities, ...(identity ? [identity] : [])] };
}

/** An empty addition. */
export function begun(concern: Concern, reason?: string): Addition {
  return { concern, reason, events: 0, refusals: 0, identities: [] };
}

/** An addition for a write of the service's own that was refused. */
export function refusedAddition({ concern, reason, above }: Unwritten): Addition {
  return { ...begun(concern, reasonOf(reason)), refusals: 1, above };
}

/** A refused write, with the reason. */
export interface Unwritten {
  concern: Concern;
  reason: string;
  /** The next stamp must be greater than this. */
  above?: Date | undefined;
}

/** Enters additions into the quarantine, and returns how many of them had no entry before. */
export async function enter(entries: mongo.Collection<SetAside>, additions: Addition[]): Promise<number> {
  let added = 0;
  for (let start = 0; start < additions.length; start += AT_ONCE) {
    const some = additions.slice(start, start + AT_ONCE);
    const { upsertedCount } = await entries.bulkWrite(
      some.map((addition) => ({
        updateOne: { filter: { _id: addition.concern }, update: [{ $set: grown(addition) }], upsert: true },
      })),
    );
    added += upsertedCount;
  }
  return added;
}

/** Sets records aside from a command, which does not lead. The leader finds the entries at its next check. */
export async function setAsideFromOutside(db: mongo.Db, refused: Unwritten[]): Promise<void> {
  await enter(db.collection<SetAside>(QUARANTINE), refused.map(refusedAddition));
}

/** The fields of an entry after an addition. A new event makes it due at once; a write that is refused again does not. */
function grown({ reason, events, refusals, identities, known, above }: Addition): mongo.Document {
  const isNews = events > 0;
  return {
    entry: { $ifNull: ['$entry', new mongo.ObjectId()] },
    reason: reason === undefined ? { $ifNull: ['$reason', literal(FOLLOWS)] } : literal(reason),
    since: { $ifNull: ['$since', '$$NOW'] },
    events: { $add: [{ $ifNull: ['$events', 0] }, events] },
    refusals: { $add: [{ $ifNull: ['$refusals', 0] }, refusals] },
    tries: isNews ? { $literal: 0 } : { $ifNull: ['$tries', 0] },
    due: isNews ? '$$NOW' : { $ifNull: ['$due', '$$NOW'] },
    ...(identities.length > 0 && { identities: withIdentities(identities) }),
    ...(known && { known: laterKnown(known) }),
    ...(above && { above: { $max: ['$above', literal(above)] } }),
  };
}

/** What changes in an entry whose events were handled: unless more were added, only its refused writes are left. */
export function withoutEvents(handled: number): mongo.Document {
  const areAll = { $eq: ['$events', handled] };
  return {
    events: { $cond: [areAll, 0, '$events'] },
    identities: { $cond: [areAll, '$$REMOVE', '$identities'] },
    known: { $cond: [areAll, '$$REMOVE', '$known'] },
  };
}

/** Keeps the later knowledge: an abandoned term may add its knowledge long after another term has added more. */
function laterKnown(known: LastKnown): mongo.Document {
  const isLater = { $gt: [literal(known.learned), { $ifNull: ['$known.learned', ''] }] };
  return { $cond: [isLater, literal(known), '$known'] };
}

function withIdentities(identities: Identity[]): mongo.Document {
  const input = { $ifNull: ['$identities', []] };
  const others = { $filter: { input, cond: { $not: [{ $in: ['$$this', literal(identities)] }] } } };
  return { $slice: [{ $concatArrays: [others, literal(identities)] }, -MOST_IDENTITIES] };
}

/** The stored form of an error, or of its text. */
export function reasonOf(error: unknown): string {
  return String((error as Error | undefined)?.message ?? error).slice(0, LONGEST_REASON);
}
