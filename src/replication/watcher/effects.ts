import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import { type Connection, type Model, mongo } from 'mongoose';
import { Metrics } from '../../observability/index.js';
import { COLLECTION_OF, isObjectId, type Kind, KINDS } from '../../record/index.js';
import { FilterReconciler } from '../filters/index.js';
import {
  KnownChannels,
  type Identity,
  Ledger,
  type PartialIdentity,
  IncompleteIdentities,
} from '../ledger/index.js';
import type { WatchedEvent, WrittenEvent } from '../log/index.js';
import { type Fences, type KnownFences, MOMENT_MODEL, type StoredMoment, withPassed } from '../mark/index.js';
import type { LogPlace } from '../progress/index.js';
import {
  EmailReview,
  IgnoredRecords,
  NumericIds,
  PRESENT,
  type PresentRecord,
  RecordCare,
} from '../repair/index.js';
import { Resurrections, Restamps } from '../stamping/index.js';
import { Completion } from './completion.js';
import { channelsGot } from './rules/channels-got.js';
import { claimsIn } from './rules/claims.js';
import { decide, type Decisions, type KindEvent } from './rules/decide.js';
import type { Knowledge, Owned, Partials } from './rules/knowledge.js';

/** Brings about what follows from a batch of events. All of it may be repeated: nothing happens twice. */
@Injectable()
export class Effects {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(MOMENT_MODEL) private readonly moments: Model<StoredMoment>,
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
    private readonly completion: Completion,
    private readonly channels: KnownChannels,
    private readonly restamps: Restamps,
    private readonly resurrections: Resurrections,
    private readonly numbers: NumericIds,
    private readonly care: RecordCare,
    private readonly emailReview: EmailReview,
    private readonly filters: FilterReconciler,
    private readonly ignored: IgnoredRecords,
    private readonly metrics: Metrics,
  ) {}

  /** The fences are those passed before the batch; answers those that it has passed. */
  async bringAbout(events: WatchedEvent[], fences: KnownFences): Promise<Fences> {
    const tombstones = await this.tombstonesIn(events);
    const passed: Fences = new Map();
    for (const kind of KINDS) {
      const concerned = events.filter((event) => concerns(event, kind, tombstones));
      if (concerned.length === 0) continue;
      const ofKind = await this.ofKind(kind, concerned as KindEvent[], { fences, tombstones });
      for (const [name, fence] of ofKind) passed.set(name, fence);
    }
    const isOf = (type: WatchedEvent['type']) => events.some((event) => event.type === type);
    if (isOf('services') && !isOf('upheaval')) await this.filters.reconcile();
    this.metrics.watcherEvents.inc(events.length);
    return passed;
  }

  private async ofKind(
    kind: Kind,
    events: KindEvent[],
    known: Pick<Knowledge, 'fences' | 'tombstones'>,
  ): Promise<Fences> {
    const ofRecords = events.filter((event) => event.type === 'written' || event.type === 'deleted');
    this.ignored.hear(kind, ofRecords);
    const owners = ownersOf(ofRecords);
    const owned = await this.owned(kind, owners);
    const partials = await this.incomplete.among(kind, owners);
    const named = await this.completion.complete(kind, events, { owned, partials });
    const holders = await this.numbers.holders(kind, claimsIn(kind, named, { owned, partials }));
    if (kind === 'product') await this.channels.learn(channelsGot(named, owned));
    const at = events.at(-1)!.place;
    const hadRivals = [...partials.values()].some((partial) => partial.isNumber);
    const { decisions, knowledge } = decide(kind, named, { ...known, owned, partials, holders });
    await this.incomplete.keep(kind, asIncomplete(knowledge.partials));
    await this.bring(kind, decisions, at, withPassed(known.fences, knowledge.passed));
    await this.incomplete.forget(kind, completeBy(knowledge.partials));
    await this.tellRivals(kind, decisions, hadRivals);
    const written = ofRecords.filter((event) => event.type === 'written' && !event.isStampOnly);
    const noted = await this.care.lookAfter(kind, {
      records: await this.present(kind, ownersOf(written)),
      at,
    });
    if (kind === 'member') await this.emailReview.review(owners, noted);
    await this.pass(decisions.moments);
    return knowledge.passed;
  }

  private async bring(kind: Kind, decided: Decisions, at: LogPlace, fences: KnownFences): Promise<void> {
    const reborn = await this.ledger.learn(decided.ledger);
    await this.resurrections.bring(kind, reborn, fences);
    await this.numbers.reveal(kind, decided.revealed);
    await this.restamps.late(kind, decided.late);
    await this.restamps.lateTombstones(decided.lateTombstones);
    await this.resurrections.look(kind, decided.seenTombstones, at, fences);
  }

  private async tellRivals(kind: Kind, decided: Decisions, haveChanged: boolean): Promise<void> {
    const { rivals, seenTombstones } = decided;
    if (rivals.length > 0 || haveChanged || (seenTombstones.length > 0 && this.ignored.hasRivals(kind)))
      await this.ignored.hearRivals(kind, rivals);
  }

  /** Comes last: a moment may be shown as soon as it is known and `watched` has come to it. */
  private async pass(moments: StoredMoment[]): Promise<void> {
    if (moments.length === 0) return;
    const writes = moments.map(({ passed, ...moment }) => ({
      updateOne: { filter: moment, update: { $setOnInsert: { passed } }, upsert: true },
    }));
    await this.moments.collection.bulkWrite(writes, { ordered: false });
  }

  /** Whose the tombstones are that the events tell of: what an entry is about never changes. */
  private async tombstonesIn(events: WatchedEvent[]): Promise<Map<string, Identity>> {
    const seen = events.flatMap((event) => (event.type === 'tombstone' ? [event.entry] : []));
    const entries = await this.ledger.among(seen);
    return new Map(entries.map((entry) => [entry._id.toHexString(), entry]));
  }

  private async owned(kind: Kind, owners: mongo.ObjectId[]): Promise<Owned> {
    const owned: Owned = new Map();
    for (const entry of await this.ledger.ownedBy(kind, owners)) {
      const key = String(entry.owner);
      owned.set(key, [...(owned.get(key) ?? []), entry]);
    }
    return owned;
  }

  private async present(kind: Kind, ids: mongo.ObjectId[]): Promise<PresentRecord[]> {
    if (ids.length === 0) return [];
    return this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<PresentRecord>([{ $match: { _id: { $in: ids } } }, { $project: PRESENT }])
      .toArray();
  }
}

function concerns(event: WatchedEvent, kind: Kind, tombstones: Map<string, Identity>): boolean {
  switch (event.type) {
    case 'written':
    case 'deleted':
      return event.kind === kind;
    case 'tombstone':
      return tombstones.get(event.entry.toHexString())?.kind === kind;
    case 'announced':
      return event.mark.kind === kind;
    case 'services':
    case 'upheaval':
      return false;
  }
}

/** The records that the events are about, each once; what has no ObjectId is no record to anybody. */
function ownersOf(events: Pick<WrittenEvent, 'owner'>[]): mongo.ObjectId[] {
  const owners = events.map((event) => event.owner).filter(isObjectId);
  return [...new Map(owners.map((owner) => [owner.toHexString(), owner])).values()];
}

function asIncomplete(partials: Partials): { owner: mongo.ObjectId; partial: PartialIdentity }[] {
  return [...partials].flatMap(([key, partial]) =>
    partial === null ? [] : [{ owner: new mongo.ObjectId(key), partial }],
  );
}

function completeBy(partials: Partials): mongo.ObjectId[] {
  return [...partials].flatMap(([key, partial]) => (partial === null ? [new mongo.ObjectId(key)] : []));
}
