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
import { COLLECTION_OF, FIRST_ID, type Kind, KINDS } from '../../../record/index.js';
import {
  KnownChannels,
  type Job,
  IncompleteIdentities,
  type IncompleteIdentity,
  Ledger,
  WorkedThrough,
} from '../../store/index.js';
import { carriedChannels, PRESENT, type PresentRecord, isDeliverable } from './present-record.js';
import { emailKeyOf } from '../../../member/index.js';
import { EmailDuplicates, EmailKeys, type WantedKey } from './email-keys.js';
import { readAsOf } from '../../../database/index.js';
import { IgnoredRecords } from './ignored-records.js';

const CHANNELS_SLICE = 1000;
const BETWEEN_CHANNELS_MS = 100;
const BETWEEN_LOOKS_MS = 10_000;

/** Where somebody dropped the collection of channels, the channels that products carry are learned again. */
@Injectable()
export class ChannelReview implements Job {
  readonly name = 'The review of channels';

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly channels: KnownChannels,
  ) {}

  /** One slice, or a look whether the collection is another one. */
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
    await this.channels.learn(carriedChannels(products));
    const behind = products.length === CHANNELS_SLICE ? products.at(-1)!._id : undefined;
    await this.store({ collection, ...(behind && { behind }) });
    return BETWEEN_CHANNELS_MS;
  }

  private products(behind: mongo.ObjectId): Promise<PresentRecord[]> {
    return this.connection
      .collection(COLLECTION_OF.product)
      .aggregate<PresentRecord>([
        { $match: { _id: { $gt: behind } } },
        { $sort: { _id: 1 } },
        { $limit: CHANNELS_SLICE },
        { $project: PRESENT },
      ])
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
/** A key may be freed while those that wait for it are gone or want another; the walk finds what is left. */
const MOST_LOOKS = 20;
const BETWEEN_SLICES_MS = 1000;
const BETWEEN_WALKS_MS = 600_000;

/**
 * Gives keys that became free to those that wait for them. After a batch it looks only at the members of the batch: what
 * they gave up, and whether they wait themselves. Beside the stream it walks slowly over all that wait.
 */
@Injectable()
export class EmailReview implements Job {
  readonly name = 'The review of duplicate e-mails';
  private behind = FIRST_ID;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly duplicates: EmailDuplicates,
    private readonly keys: EmailKeys,
  ) {}

  /** Looks at members that were written or deleted. Those that were noted as duplicates just now need no look for that. */
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

  /** Gives a freed key to the first that waits for it and still wants it. */
  private async pass(freed: EmailHolder): Promise<void> {
    for (let look = 0; look < MOST_LOOKS; look += 1) {
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

  /** Those that want another key than they wait for, or none, or are gone, wait no more. */
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

  /** Those that have the key they want, or want none, wait no more; the others get theirs where it is free. */
  private async retry(waiting: EmailDuplicate[]): Promise<void> {
    if (waiting.length === 0) return;
    const present = await this.present(waiting);
    const wanted = present.flatMap((member) => wantedBy(member) ?? []);
    const refused = new Set((await this.keys.set(wanted)).map(String));
    await this.duplicates.settle(waiting.filter(({ _id }) => !refused.has(String(_id))));
  }

  private present(members: { _id: mongo.ObjectId }[]): Promise<PresentRecord[]> {
    return this.connection
      .collection(COLLECTION_OF.member)
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
 * Forgets what a term that was given up has written down of incomplete records after the next one had forgotten it. The
 * ledger knows such a record as of a later place, or more is known of it in another application, or the record is gone.
 */
@Injectable()
export class IncompleteReview implements Job {
  readonly name = 'The review of incomplete identities';
  private kind: Kind = KINDS[0]!;
  private behind: mongo.ObjectId | undefined;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly incomplete: IncompleteIdentities,
    private readonly ledger: Ledger,
    private readonly ignored: IgnoredRecords,
    private readonly workedThrough: WorkedThrough,
  ) {}

  /** One slice of a kind. */
  async step(stop: AbortSignal): Promise<number> {
    const { kind } = this;
    const stretch = await this.incomplete.nextStretch(kind, this.behind, SLICE);
    this.behind = stretch?.end;
    if (stretch === undefined) {
      this.kind = KINDS[(KINDS.indexOf(kind) + 1) % KINDS.length]!;
      return this.kind === KINDS[0] ? BETWEEN_ROUNDS_MS : BETWEEN_INCOMPLETE_MS;
    }
    for await (const some of this.incomplete.inStretch(kind, stretch))
      await this.forgetStale(kind, some, stop);
    return BETWEEN_INCOMPLETE_MS;
  }

  /** Everything up to the look is worked through, so what is true of these records by then is written down. */
  private async forgetStale(kind: Kind, some: IncompleteIdentity[], stop: AbortSignal): Promise<void> {
    const { at } = await this.workedThrough.now();
    if (!(await this.workedThrough.upTo(at, stop))) return;
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
      this.connection
        .collection(COLLECTION_OF[kind])
        .find({ _id: { $in: owners } }, { ...snapshot, projection: { _id: 1 } })
        .toArray(),
    );
    return new Set(found.map(({ _id }) => String(_id)));
  }
}
