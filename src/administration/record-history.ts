import mongoose, { type mongo } from 'mongoose';
import { COLLECTION_OF, type Kind, type Tenant } from '../record/index.js';
import { LEDGER } from '../replication/ledger/plain.js';
import {
  type EditedService,
  type RestampGap,
  type RestampNote,
  type RestampReason,
  restampGaps,
  restampsOf,
} from '../replication/stamping/plain.js';
import { type FoundUnder, foundUnder, type Standing, standingOf } from './record-story.js';

const MOST_RESTAMPS = 100;
const MOST_GAPS = 20;

/** A re-stamp that a record, or its hard delete, had. */
export interface Restamp {
  at: Date;
  reason: RestampReason;
  what: 'record' | 'hard delete';
  /** A sentence. */
  meaning: string;
}

/** Which re-stamps are known of what stands under an `id`. */
export interface RecordHistory extends Standing {
  /** The newest 100, newest first. */
  restamps: Restamp[];
  /** The newest 20 times in which there were more re-stamps of a reason, of all records, than are noted one by one. */
  gaps: Pick<RestampGap, 'from' | 'until' | 'reason'>[];
  /** For how many days re-stamps are noted from now on; 0: they are not. */
  keptDays: number;
}

const MEANINGS: Record<RestampReason, string> = {
  late: 'It was written with a stamp at or below what a consumer may have read already.',
  left: 'Another program changed it and left its stamp alone.',
  bad: 'Its stamp was missing, was not a date, or lay in the future.',
  tombstone: 'It came too late for a consumer.',
  resurrection: 'It came back under an id that was deleted.',
  number: 'Its id is a number, under which it can be delivered from here on.',
  filter: 'The filter of a service was edited, and judges it differently.',
  pass: 'A pass repaired a lost history: what cannot be proven unchanged counts as changed.',
  audit: 'The audit put it right.',
  quarantine: 'It was looked after, since a change of it could not be worked through.',
  resync: 'The command resync stamped everything of its application and kind anew.',
};
const UNCERTAIN = ' It was looked at for that, and stamped only if it still had to be.';

/**
 * When and why a record, and its hard delete, were stamped anew, so that consumers received them again. Known are those of
 * the record that stands under the `id` now, not those of another one that did before.
 */
export async function recordHistory(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  id: string,
  keptDays: number,
): Promise<RecordHistory> {
  const of = { organizationid, appid, kind };
  const found = await foundUnder(db, of, id);
  const stamped = [
    { collection: COLLECTION_OF[kind], ids: recordIds(found) },
    { collection: LEDGER, ids: found.entry === null ? [] : [found.entry._id] },
  ];
  const [notes, gaps] = await Promise.all([
    restampsOf(db, stamped, MOST_RESTAMPS),
    restampGaps(db, MOST_GAPS),
  ]);
  return {
    ...standingOf(of, id, found),
    restamps: notes.map((note) => restampOf(note, of)),
    gaps: gaps.map(({ from, until, reason }) => ({ from, until, reason })),
    keptDays,
  };
}

/** The owner that the ledger knows, and the record, which the watcher may not have come to. */
function recordIds({ entry, record }: FoundUnder): mongo.ObjectId[] {
  const ids = [entry?.owner, record?.['_id'] as unknown].filter(
    (id) => id instanceof mongoose.mongo.ObjectId,
  );
  return ids.filter((id, place) => ids.findIndex((other) => other.equals(id)) === place);
}

type Noted = Pick<RestampNote, 'at' | 'reason' | 'collection' | 'isCertain' | 'service'>;

function restampOf(
  { at, reason, collection, isCertain, service }: Noted,
  of: Tenant & { kind: Kind },
): Restamp {
  const meaning = service !== undefined && isIts(service, of) ? edited(of.kind, service) : MEANINGS[reason];
  return {
    ...{ at, reason, what: collection === LEDGER ? 'hard delete' : 'record' },
    meaning: isCertain ? meaning : `${meaning}${UNCERTAIN}`,
  };
}

/** A record may have moved here from another application, whose services must not be shown here. */
function isIts(service: EditedService, { organizationid, appid }: Tenant): boolean {
  return service.organizationid === organizationid && service.appid === appid;
}

function edited(kind: Kind, { name }: EditedService): string {
  return `The filter of the ${kind} service "${name}" was edited, and judges it differently.`;
}
