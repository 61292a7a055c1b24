import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import {
  type Review,
  REVIEWS,
  type EmailDuplicate,
  type EmailHolder,
  isSameKey,
} from '../collections.schema.js';
import { type Kind, isKind, kindNames, CHANNEL_KIND, PERSON_KIND } from '../../../kinds/index.js';
import { recordsIn, FIRST_ID, RecordsHeldError } from '../../../record/index.js';
import {
  KnownChannels,
  type Job,
  IncompleteIdentities,
  type IncompleteIdentity,
  Ledger,
  OF_JOBS,
  Quarantine,
  WorkedThrough,
} from '../../store/index.js';
import { channelsOf, PRESENT, type PresentRecord, isDeliverable } from './present-record.js';
import { emailKeyOf } from '../../../member/index.js';
import { EmailDuplicates, EmailKeys, type WantedKey } from './email-keys.js';
import { readAsOf } from '../../../platform/database/index.js';
import { isIn } from '../../protocol/index.js';
import { IgnoredRecords } from './ignored-records.js';

const CHANNELS_SLICE = 1000;
const BETWEEN_CHANNELS_MS = 100;
const BETWEEN_LOOKS_MS = 10_000;

/** Learns the channels of all products again if the collection of channels was dropped. */
@Injectable()
export class ChannelReview implements Job {
  readonly name = 'The review of channels';

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly channels: KnownChannels,
  ) {}

  /** Begins again if the collection of channels was replaced. Otherwise processes the next slice, if any is left. */
  async step(): Promise<number> {
    const stored = await this.reviews.findOne({ _id: 'channels' });
    const collection = (await this.channels.collectionId()) ?? null;
    if (stored === null || stored.collection !== collection) {
      if (stored !== null) this.channels.forget();
      await this.store({ collection, ...(stored !== null && { behind: FIRST_ID }) });
      return 0;
    }
    if (stored.behind === undefined) return BETWEEN_LOOKS_MS;
    const products = await this.products(stored.behind);
    await this.channels.learn(channelsOf(products));
    const behind = products.length === CHANNELS_SLICE ? products.at(-1)!._id : undefined;
    await this.store({ collection, ...(behind && { behind }) });
    return BETWEEN_CHANNELS_MS;
  }

  private products(behind: mongo.ObjectId): Promise<PresentRecord[]> {
    return recordsIn(this.connection, CHANNEL_KIND)
      .aggregate<PresentRecord>(
        [
          { $match: { _id: { $gt: behind } } },
          { $sort: { _id: 1 } },
          { $limit: CHANNELS_SLICE },
          { $project: PRESENT },
        ],
        { comment: OF_JOBS },
      )
      .toArray();
  }

  private async store(review: Omit<Review, '_id'>): Promise<void> {
    await this.reviews.replaceOne({ _id: 'channels' }, review, { upsert: true });
  }

  private get reviews(): mongo.Collection<Review> {
    return this.connection.collection<Review>(REVIEWS);
  }
}

const AT_ONCE = 1000;
const FREED_AT_ONCE = 50;
/** Maximum number of waiting members that are tried for a freed key: they may be gone. The walk finds the rest. */
const MOST_LOOKS = 20;
const BETWEEN_SLICES_MS = 1000;
const BETWEEN_WALKS_MS = 600_000;

/**
 * Gives freed keys to members that wait for them. After a batch, it checks only the members of the batch: which keys they
 * released, and whether they still wait. Beside the stream, it walks slowly over all waiting members.
 */
@Injectable()
export class EmailReview implements Job {
  readonly name = 'The review of duplicate e-mails';
  private behind = FIRST_ID;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly duplicates: EmailDuplicates,
    private readonly keys: EmailKeys,
    private readonly quarantine: Quarantine,
  ) {}

  /**
   * Checks members that were written or deleted. Those that were noted as duplicates just now still wait, and are not
   * checked for that.
   */
  async review(members: mongo.ObjectId[], justNoted: mongo.ObjectId[]): Promise<void> {
    if (members.length === 0) return;
    const noted = new Set(justNoted.map(String));
    await this.settle(await this.duplicates.among(members.filter((_id) => !noted.has(String(_id)))));
    const wanted = await this.duplicates.wantedOf(members);
    if (wanted.length === 0) return;
    const present = new Map((await this.present(wanted)).map((member) => [String(member._id), member]));
    const freed = wanted.filter((one) => !isHolding(present.get(String(one._id)), one));
    for (let start = 0; start < freed.length; start += FREED_AT_ONCE)
      await Promise.all(freed.slice(start, start + FREED_AT_ONCE).map((one) => this.pass(one)));
    await this.duplicates.release(freed);
  }

  /** One slice of the walk. */
  async step(): Promise<number> {
    const some = await this.duplicates.behind(this.behind, AT_ONCE);
    await this.retry(some);
    this.behind = some.at(-1)?._id ?? FIRST_ID;
    return some.length === AT_ONCE ? BETWEEN_SLICES_MS : BETWEEN_WALKS_MS;
  }

  /** Gives a freed key to the first member that waits for it and still wants it. */
  private async pass(freed: EmailHolder): Promise<void> {
    for (let attempt = 0; attempt < MOST_LOOKS; attempt += 1) {
      const next = await this.duplicates.next(freed);
      if (next === null) return;
      await this.retry([next]);
      const [still] = await this.duplicates.among([next._id]);
      if (still !== undefined && isSameKey(still, freed)) return;
      const [member] = await this.present([next]);
      if (!isHolding(member, freed)) continue;
      return this.duplicates.hold({ ...freed, _id: next._id });
    }
  }

  /** Members that have the key, want another key or none, or are gone, no longer wait. */
  private async settle(waiting: EmailDuplicate[]): Promise<void> {
    if (waiting.length === 0) return;
    const present = new Map((await this.present(waiting)).map((member) => [String(member._id), member]));
    const isWaiting = (one: EmailDuplicate) => {
      const member = present.get(String(one._id));
      const wanted = member && wantedBy(member);
      return wanted !== undefined && isSameKey(wanted, one);
    };
    await this.duplicates.settle(waiting.filter((one) => !isWaiting(one)));
  }

  /**
   * Members that have the key they want, want none, or are gone, no longer wait. The others get theirs if it is free. If
   * a transaction holds some of these, they are set aside, and all others wait until they are tried again.
   */
  private async retry(waiting: EmailDuplicate[]): Promise<void> {
    if (waiting.length === 0) return;
    const present = await this.present(waiting);
    const wanted = present.flatMap((member) => wantedBy(member) ?? []);
    const set = this.keys.set(wanted).catch((error: unknown) => this.setAsideHeld(wanted, error));
    const refused = new Set((await set).map(String));
    await this.duplicates.settle(waiting.filter(({ _id }) => !refused.has(String(_id))));
  }

  /**
   * Sets aside members that a transaction holds: no event of the batch concerns them, so none could wait for them.
   * Returns the members that still wait. Throws any other error.
   */
  private async setAsideHeld(waiting: WantedKey[], error: unknown): Promise<mongo.ObjectId[]> {
    if (!(error instanceof RecordsHeldError)) throw error;
    const concerns = error.ids.map((owner) => ({ what: 'record' as const, kind: PERSON_KIND, owner }));
    const { message: reason } = error;
    await this.quarantine.setAsideRefused(concerns.map((concern) => ({ concern, what: 'emailkey', reason })));
    return waiting.map(({ _id }) => _id);
  }

  private present(members: { _id: mongo.ObjectId }[]): Promise<PresentRecord[]> {
    return recordsIn(this.connection, PERSON_KIND)
      .aggregate<PresentRecord>([
        { $match: { _id: { $in: members.map(({ _id }) => _id) } } },
        { $project: PRESENT },
      ])
      .toArray();
  }
}

function wantedBy(member: PresentRecord): WantedKey | undefined {
  if (!isDeliverable(member)) return undefined;
  const emailkey = emailKeyOf(member.email) ?? null;
  if (emailkey === null || emailkey === member.emailkey) return undefined;
  const { _id, organizationid, appid, email } = member;
  return { _id, organizationid, appid, email, emailkey, hasOther: member.emailkey !== null };
}

function isHolding(member: PresentRecord | undefined, key: EmailHolder): boolean {
  if (member === undefined || !isDeliverable(member) || typeof member.emailkey !== 'string') return false;
  return isSameKey({ ...member, emailkey: member.emailkey }, key);
}

const SLICE = 1000;
const BETWEEN_INCOMPLETE_MS = 100;
const BETWEEN_ROUNDS_MS = 600_000;

/**
 * Forgets incomplete identities that an abandoned term has stored after the next term had forgotten them. The ledger,
 * or another incomplete identity, contains newer knowledge of such a record, or the record is gone.
 */
@Injectable()
export class IncompleteReview implements Job {
  readonly name = 'The review of incomplete identities';
  private kind: Kind = kindNames()[0]!;
  private behind: mongo.ObjectId | undefined;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly incomplete: IncompleteIdentities,
    private readonly ledger: Ledger,
    private readonly ignored: IgnoredRecords,
    private readonly workedThrough: WorkedThrough,
  ) {}

  /** Processes one slice of a kind. A kind that was removed since the last slice is left. */
  async step(stop: AbortSignal): Promise<number> {
    if (!isKind(this.kind)) [this.kind, this.behind] = [kindNames()[0]!, undefined];
    const { kind } = this;
    const range = await this.incomplete.nextRange(kind, this.behind, SLICE);
    this.behind = range?.end;
    if (range === undefined) {
      this.kind = kindNames()[(kindNames().indexOf(kind) + 1) % kindNames().length]!;
      return this.kind === kindNames()[0] ? BETWEEN_ROUNDS_MS : BETWEEN_INCOMPLETE_MS;
    }
    for await (const some of this.incomplete.inRange(kind, range)) await this.forgetStale(kind, some, stop);
    return BETWEEN_INCOMPLETE_MS;
  }

  /**
   * Waits until the log is processed up to the time of the read of the records, so that the ledger is complete for
   * that time. Identities in applications and kinds that are not processed that far are left to the next round.
   */
  private async forgetStale(kind: Kind, all: IncompleteIdentity[], stop: AbortSignal): Promise<void> {
    const { at } = await this.workedThrough.now();
    const processed = await this.workedThrough.upTo(at, stop);
    if (processed === undefined || processed.withoutKinds.includes(kind)) return;
    const some = all.filter((one) => isIn(processed.share, one));
    const owners = some.map(({ _id }) => _id.owner);
    const present = await this.present(kind, owners, at);
    const owned = await this.ledger.ownedBy(kind, owners);
    const learned = new Map(owned.map((entry) => [String(entry.owner), entry.learned]));
    const newest = await this.incomplete.among(kind, owners);
    const stale = some.filter(({ _id: { owner }, learned: known = '' }) => {
      const key = String(owner);
      const isLearnedSince = [learned.get(key), newest.get(key)?.learned].some((later = '') => later > known);
      return !present.has(key) || isLearnedSince;
    });
    if (stale.length === 0) return;
    await this.incomplete.forgetThese(stale);
    await this.ignored.hearRivals(kind, []);
  }

  private async present(kind: Kind, owners: mongo.ObjectId[], at: mongo.Timestamp): Promise<Set<string>> {
    const found = await readAsOf(this.connection.getClient(), at, (snapshot) =>
      recordsIn(this.connection, kind)
        .find({ _id: { $in: owners } }, { ...snapshot, projection: { _id: 1 }, comment: OF_JOBS })
        .toArray(),
    );
    return new Set(found.map(({ _id }) => String(_id)));
  }
}
