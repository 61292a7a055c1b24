import { mongo, type Model } from 'mongoose';
import { Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { WatchedEvent } from '../protocol/index.js';
import { type Concern, QUARANTINE_MODEL, type SetAside } from './collections.schema.js';
import { literal } from '../../platform/common/index.js';
import { Metrics } from '../../platform/observability/index.js';
import type { Kind } from '../../kinds/index.js';
import {
  type Addition,
  begun,
  enter,
  reasonOf,
  refusedAddition,
  type Unwritten,
  withoutEvents,
  withShown,
} from './quarantine-additions.js';
import { ShownIdentities } from './shown-identities.js';

/**
 * The subject of an event. Undefined for an announcement, since another follows, for the loss of a collection, and for
 * records that are never delivered.
 */
export function concernOf(event: WatchedEvent): Concern | undefined {
  switch (event.type) {
    case 'written':
    case 'deleted':
      return event.owner instanceof mongo.ObjectId
        ? { what: 'record', kind: event.kind, owner: event.owner }
        : undefined;
    case 'tombstone':
      return { what: 'tombstone', owner: event.entry };
    case 'services':
      return { what: 'services' };
    case 'announced':
    case 'collectionLost':
      return undefined;
  }
}

/** A key for maps. */
export function concernKey(concern: Concern): string {
  return concern.what === 'services' ? 'services' : concernInWords(concern);
}

/** A name for the log. */
function concernInWords(concern: Concern): string {
  if (concern.what === 'services') return 'the services';
  const what = concern.what === 'record' ? concern.kind : 'hard delete';
  return `${what} ${concern.owner.toHexString()}`;
}

const LONGEST_PAUSE_S = 300;
const LONGEST_PAUSE_MS = LONGEST_PAUSE_S * 1000;

/** Lets operators and tests tell the leader's regular reads from other commands. */
const COMMENT = 'tidemark quarantine';

/** The kinds of the service's own writes that may be refused. */
const REFUSED_WRITES = ['stamp', 'id', 'emailkey'] as const;

/** A write of the service's own into a record or hard delete that MongoDB refused. */
export interface RefusedWrite extends Unwritten {
  what: (typeof REFUSED_WRITES)[number];
}

/** Sets aside events that failed and records that cannot be written, so that they block no others. */
@Injectable()
export class Quarantine {
  private readonly log = new Logger('Watcher');
  private mayHave = true;
  /** Changes with each addition and each term, so that an earlier query result is recognized as out of date. */
  private turn = 0;

  constructor(
    @InjectModel(QUARANTINE_MODEL) private readonly model: Model<SetAside>,
    private readonly shown: ShownIdentities,
    private readonly metrics: Metrics,
  ) {
    for (const what of REFUSED_WRITES) metrics.refusedWrites.inc({ what }, 0);
  }

  /**
   * Whether the quarantine may have entries. Assumed when a term begins. The leader finds entries made by a command at its
   * next check.
   */
  get mayHaveEntries(): boolean {
    return this.mayHave;
  }

  private get entries(): mongo.Collection<SetAside> {
    return this.model.collection as unknown as mongo.Collection<SetAside>;
  }

  /** Must be called before a term does anything: another leader may have set something aside. */
  beginTerm(): void {
    this.expectEntries();
  }

  /** Discards the results of earlier checks. */
  expectEntries(): void {
    this.mayHave = true;
    this.turn += 1;
  }

  /**
   * Sets the subjects of these events aside, to be retried, with the identities that they had after the events. An
   * event without a subject is logged and skipped.
   */
  async setAsideEvents(events: WatchedEvent[], error: unknown): Promise<void> {
    const shown = await this.shown.behind(events);
    const additions = new Map<string, Addition>();
    for (const event of events) {
      const concern = concernOf(event);
      if (concern === undefined) {
        this.log.error({ err: error as Error }, `An event cannot be processed and is skipped: ${event.type}`);
        continue;
      }
      const key = concernKey(concern);
      const addition = additions.get(key) ?? begun(concern, reasonOf(error));
      const { events: before } = addition;
      additions.set(key, withShown({ ...addition, events: before + 1 }, shown.get(event)));
    }
    this.logEntries(
      [...additions.values()].map(({ concern }) => concern),
      'processing an event',
      error,
    );
    await this.add([...additions.values()]);
  }

  /** Sets one subject aside, to be retried. `during` names the operation that failed. */
  async setAside(concern: Concern, during: string, error: unknown): Promise<void> {
    this.logEntries([concern], during, error);
    const identity = concern.what === 'record' ? await this.shown.now(concern) : undefined;
    const identities = identity === undefined ? [] : [identity];
    await this.add([{ ...begun(concern, reasonOf(error)), events: 1, identities }]);
  }

  /** Sets aside records that could not be written, to be retried. The ledger still knows their identities. */
  async setAsideRefused(refused: RefusedWrite[]): Promise<void> {
    const isNew = await this.add(refused.map(refusedAddition));
    for (const { what } of refused) this.metrics.refusedWrites.inc({ what });
    const [first] = refused;
    if (first !== undefined && isNew > 0)
      this.log.warn(
        `${isNew} records or hard deletes cannot be written (${first.what}) and are set aside, such as ${concernInWords(first.concern)}: ` +
          first.reason,
      );
  }

  /**
   * Sets aside the events of records that already have events in quarantine, because the ledger may not know the identity of
   * such a record. Returns all other events. These include events that change only a stamp or `emailkey`, such as the writes
   * of the retries themselves. A record that has only refused writes is retried at once.
   */
  async withoutFollowing(events: WatchedEvent[]): Promise<WatchedEvent[]> {
    if (!this.mayHave) return events;
    const concerned = events.map((event) => ({
      event,
      concern: isOfRecord(event) ? concernOf(event) : undefined,
    }));
    const concerns = concerned.flatMap(({ concern }) => concern ?? []);
    if (concerns.length === 0) return events;
    const found = await this.entries.find(among(concerns), { projection: { events: 1 } }).toArray();
    if (found.length === 0) return events;
    const blind = new Set(found.filter((entry) => entry.events > 0).map(({ _id }) => concernKey(_id)));
    const isFollowing = (concern: Concern | undefined) =>
      concern !== undefined && blind.has(concernKey(concern));
    const following = concerned.filter(({ concern }) => isFollowing(concern)).map(({ event }) => event);
    const refused = found.filter((entry) => entry.events === 0).map(({ _id }) => _id);
    if (refused.length > 0) await this.renew(among(refused));
    if (following.length > 0) await this.follow(following);
    return concerned.filter(({ concern }) => !isFollowing(concern)).map(({ event }) => event);
  }

  /** Makes the records of a kind due at once, because their collection has changed. */
  async hastenRecords(kind: Kind): Promise<void> {
    await this.hasten({ '_id.what': 'record', '_id.kind': kind });
  }

  /**
   * The entries that are due, the longest overdue first. An entry that is due later than after the longest pause is due
   * at once: the database's clock was ahead when the time was set, and has been set back since.
   */
  async due(clock: Date, most: number): Promise<SetAside[]> {
    const before = this.turn;
    const entries = await this.entries
      .find({}, { sort: { due: 1 }, limit: most, comment: COMMENT })
      .toArray();
    if (entries.length === 0 && before === this.turn) this.mayHave = false;
    const latest = new Date(clock.getTime() + LONGEST_PAUSE_MS);
    return entries.filter(({ due }) => due <= clock || due > latest);
  }

  /**
   * Removes entries that were handled. An entry stays if more of its events were set aside meanwhile, or if a write to it
   * was refused again; the latter is postponed, without the events that were handled. A newer entry for the same subject
   * is left unchanged.
   */
  async settle(entries: SetAside[]): Promise<void> {
    if (entries.length === 0) return;
    await this.entries.bulkWrite(
      entries.map((entry) => {
        const { events, refusals = null } = entry;
        return { deleteOne: { filter: { ...theVery(entry), events, refusals } as mongo.Filter<SetAside> } };
      }),
      { ordered: false },
    );
    const refused = entries.map((entry) => {
      const { events, refusals = null } = entry;
      return {
        filter: { ...theVery(entry), refusals: { $ne: refusals } } as mongo.Filter<SetAside>,
        set: withoutEvents(events),
      };
    });
    await this.postponeWhere(refused);
  }

  /** The entries failed again. They are retried after a pause that doubles each time, up to five minutes. */
  async postpone(entries: SetAside[], error: unknown): Promise<void> {
    const set = { reason: literal(reasonOf(error)) };
    await this.postponeWhere(entries.map((entry) => ({ filter: theVery(entry), set })));
  }

  /** Puts the entries after all others that are due, or makes them due after a pause (milliseconds). */
  async putBack(entries: SetAside[], pauseMs = 0): Promise<void> {
    const due = { $add: ['$$NOW', pauseMs] };
    await this.entries.updateMany({ $or: entries.map(theVery) }, [{ $set: { due } }]);
  }

  private async postponeWhere(
    which: { filter: mongo.Filter<SetAside>; set: mongo.Document }[],
  ): Promise<void> {
    const seconds = { $min: [{ $pow: [2, '$tries'] }, LONGEST_PAUSE_S] };
    const tried = {
      due: { $add: ['$$NOW', { $multiply: [seconds, 1000] }] },
      tries: { $add: ['$tries', 1] },
    };
    await this.entries.bulkWrite(
      which.map(({ filter, set }) => ({
        updateOne: { filter, update: [{ $set: { ...tried, ...set } }] },
      })),
      { ordered: false },
    );
  }

  /**
   * Makes entries due at once, and new ones: a retry that is under way does not settle them, since it may have read their
   * records before the event.
   */
  private async renew(which: mongo.Filter<SetAside>): Promise<void> {
    await this.entries.updateMany(which, [{ $set: { due: '$$NOW', tries: 0, entry: new mongo.ObjectId() } }]);
  }

  private async hasten(which: mongo.Filter<SetAside>): Promise<void> {
    await this.entries.updateMany(which, [{ $set: { due: '$$NOW', tries: 0 } }]);
  }

  private async follow(events: WatchedEvent[]): Promise<void> {
    const shown = await this.shown.behind(events);
    await this.add(
      events.map((event) => withShown({ ...begun(concernOf(event)!), events: 1 }, shown.get(event))),
    );
  }

  /** Adds to the quarantine, and returns how many subjects were not in it before. */
  private async add(additions: Addition[]): Promise<number> {
    if (additions.length === 0) return 0;
    const added = await enter(this.entries, additions);
    this.mayHave = true;
    this.turn += 1;
    return added;
  }

  private logEntries(concerns: Concern[], during: string, error: unknown): void {
    const [first] = concerns;
    if (first === undefined) return;
    const others = concerns.length > 1 ? ` and ${concerns.length - 1} more` : '';
    this.log.error(
      { err: error as Error },
      `Set aside, since ${during} failed: ${concernInWords(first)}${others}`,
    );
  }
}

function isOfRecord(event: WatchedEvent): boolean {
  return event.type === 'deleted' || (event.type === 'written' && !event.isStampOnly && !event.isKeyOnly);
}

/** Matches this entry, but not a newer one for the same subject: an abandoned term may write late. */
function theVery({ _id, entry }: SetAside): mongo.Filter<SetAside> {
  return { _id, entry: entry ?? { $exists: false } };
}

function among(concerns: Concern[]): mongo.Filter<SetAside> {
  return { $or: concerns.map((_id) => ({ _id })) };
}
