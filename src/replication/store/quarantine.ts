import { mongo, type Model } from 'mongoose';
import { Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { WatchedEvent } from '../protocol/index.js';
import { type Concern, QUARANTINE_MODEL, type SetAside } from './collections.schema.js';
import { literal } from '../../common/index.js';
import { Metrics } from '../../observability/index.js';
import type { Kind } from '../../record/index.js';
import {
  type Addition,
  begun,
  enter,
  reasonOf,
  refusedAddition,
  type Unwritten,
  withShown,
} from './quarantine-additions.js';
import { ShownIdentities } from './shown-identities.js';

/** What an event concerns. Undefined for an announcement, since another follows, and for records that are never delivered. */
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

/** For maps. */
export function concernKey(concern: Concern): string {
  return concern.what === 'services' ? 'services' : nameOf(concern);
}

/** For the log. */
export function nameOf(concern: Concern): string {
  if (concern.what === 'services') return 'the services';
  const what = concern.what === 'record' ? concern.kind : 'hard delete';
  return `${what} ${concern.owner.toHexString()}`;
}

const LONGEST_PAUSE_S = 300;

/** What of the service's own writes may be refused. */
export const REFUSED_WRITES = ['stamp', 'id', 'emailkey'] as const;

/** A write of the service's own into a record or hard delete that MongoDB refused. */
export interface RefusedWrite extends Unwritten {
  what: (typeof REFUSED_WRITES)[number];
}

/** Events, and records that cannot be written, set aside so that they block no others. */
@Injectable()
export class Quarantine {
  private readonly log = new Logger('Watcher');
  private mayHave = true;
  /** Changes with each addition and each term, so that an answer from before either is known to be out of date. */
  private turn = 0;

  constructor(
    @InjectModel(QUARANTINE_MODEL) private readonly model: Model<SetAside>,
    private readonly shown: ShownIdentities,
    private readonly metrics: Metrics,
  ) {
    for (const what of REFUSED_WRITES) metrics.refusedWrites.inc({ what }, 0);
  }

  /** Whether there may be anything: unknown as a term begins. Of what a command sets aside, the leader learns when it looks again. */
  get mayHaveEntries(): boolean {
    return this.mayHave;
  }

  private get entries(): mongo.Collection<SetAside> {
    return this.model.collection as unknown as mongo.Collection<SetAside>;
  }

  /** To be called before anything of a term is done: another leader may have set something aside. */
  beginTerm(): void {
    this.lookAgain();
  }

  /** What was found by looks so far counts no more. */
  lookAgain(): void {
    this.mayHave = true;
    this.turn += 1;
  }

  /** What the events are about is looked after from now on, with what it was meanwhile. */
  async setAsideEvents(events: WatchedEvent[], error: unknown): Promise<void> {
    const shown = await this.shown.behind(events);
    const additions = new Map<string, Addition>();
    for (const event of events) {
      const concern = concernOf(event);
      if (concern === undefined) {
        this.log.error(
          { err: error as Error },
          `An event cannot be worked through and is left: ${event.type}`,
        );
        continue;
      }
      const key = concernKey(concern);
      const addition = additions.get(key) ?? begun(concern, reasonOf(error));
      const { events: before } = addition;
      additions.set(key, withShown({ ...addition, events: before + 1 }, shown.get(event)));
    }
    this.tell(
      [...additions.values()].map(({ concern }) => concern),
      'an event',
      error,
    );
    await this.add([...additions.values()]);
  }

  /** What something is about is looked after from now on; `during` says where it failed. */
  async setAside(concern: Concern, during: string, error: unknown): Promise<void> {
    this.tell([concern], during, error);
    const identity = concern.what === 'record' ? await this.shown.now(concern) : undefined;
    const identities = identity === undefined ? [] : [identity];
    await this.add([{ ...begun(concern, reasonOf(error)), events: 1, identities }]);
  }

  /** What cannot be written is looked after from now on. The ledger knows what it is all the same. */
  async setAsideRefused(refused: RefusedWrite[]): Promise<void> {
    const isNew = await this.add(refused.map(refusedAddition));
    for (const { what } of refused) this.metrics.refusedWrites.inc({ what });
    const [first] = refused;
    if (first !== undefined && isNew > 0)
      this.log.warn(
        `${isNew} records cannot be written (${first.what}) and are set aside, such as ${nameOf(first.concern)}: ` +
          first.reason,
      );
  }

  /**
   * The events of records whose earlier events were set aside: the ledger may not know what such a record was, so these
   * follow them. Answers all others: those too that change nothing but a stamp or key, such as the writes of the care for what
   * was set aside. A record that could only not be written is looked after again at once.
   */
  async withoutFollowing(events: WatchedEvent[]): Promise<WatchedEvent[]> {
    if (!this.mayHave) return events;
    const concerned = events.map((event) => ({
      event,
      concern: tellsOfRecord(event) ? concernOf(event) : undefined,
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
    if (refused.length > 0) await this.hasten(among(refused));
    if (following.length > 0) await this.follow(following);
    return concerned.filter(({ concern }) => !isFollowing(concern)).map(({ event }) => event);
  }

  /** Records of a kind are looked after again at once: their collection has changed. */
  async hastenRecords(kind: Kind): Promise<void> {
    await this.hasten({ '_id.what': 'record', '_id.kind': kind });
  }

  /** What is to be looked after by now, the longest due first. */
  async due(clock: Date, most: number): Promise<SetAside[]> {
    const before = this.turn;
    const entries = await this.entries.find({}, { sort: { due: 1 }, limit: most }).toArray();
    if (entries.length === 0 && before === this.turn) this.mayHave = false;
    return entries.filter(({ due }) => due <= clock);
  }

  /**
   * They were looked after. Those of which more events were set aside meanwhile stay, and so do those that could not be
   * written again: these are postponed. Those that have been made anew stay as they are.
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
    await this.postponeWhere(
      entries.map((entry) => {
        const { refusals = null } = entry;
        return { ...theVery(entry), refusals: { $ne: refusals } } as mongo.Filter<SetAside>;
      }),
    );
  }

  /** The entries failed again. They are retried after a pause that doubles each time, up to five minutes. */
  async postpone(entries: SetAside[], error: unknown): Promise<void> {
    await this.postponeWhere(entries.map(theVery), reasonOf(error));
  }

  /** Puts the entries after all others that are due. */
  async putBack(entries: SetAside[]): Promise<void> {
    await this.entries.updateMany({ $or: entries.map(theVery) }, { $currentDate: { due: true } });
  }

  private async postponeWhere(which: mongo.Filter<SetAside>[], reason?: string): Promise<void> {
    const seconds = { $min: [{ $pow: [2, '$tries'] }, LONGEST_PAUSE_S] };
    const due = { $add: ['$$NOW', { $multiply: [seconds, 1000] }] };
    const tried = { due, tries: { $add: ['$tries', 1] }, ...(reason && { reason: literal(reason) }) };
    await this.entries.bulkWrite(
      which.map((filter) => ({ updateOne: { filter, update: [{ $set: tried }] } })),
      { ordered: false },
    );
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

  /** Answers how many of them were not in quarantine before. */
  private async add(additions: Addition[]): Promise<number> {
    if (additions.length === 0) return 0;
    const added = await enter(this.entries, additions);
    this.mayHave = true;
    this.turn += 1;
    return added;
  }

  private tell(concerns: Concern[], during: string, error: unknown): void {
    const [first] = concerns;
    if (first === undefined) return;
    const others = concerns.length > 1 ? ` and ${concerns.length - 1} more` : '';
    this.log.error({ err: error as Error }, `Set aside, since ${during} failed: ${nameOf(first)}${others}`);
  }
}

function tellsOfRecord(event: WatchedEvent): boolean {
  return event.type === 'deleted' || (event.type === 'written' && !event.isStampOnly && !event.isKeyOnly);
}

/** This entry, and none that was made anew of the same since it was read: a term that was given up may write late. */
function theVery({ _id, entry }: SetAside): mongo.Filter<SetAside> {
  return { _id, entry: entry ?? { $exists: false } };
}

function among(concerns: Concern[]): mongo.Filter<SetAside> {
  return { $or: concerns.map((_id) => ({ _id })) };
}
