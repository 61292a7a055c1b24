import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { readAsOf } from '../../database/index.js';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';
import { IncompleteIdentities, type IncompleteIdentity, Ledger } from '../ledger/index.js';
import { type Job, WorkedThrough } from '../progress/index.js';
import { IgnoredRecords } from './ignored-records.js';

const SLICE = 1000;
const BETWEEN_SLICES_MS = 100;
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
      return this.kind === KINDS[0] ? BETWEEN_ROUNDS_MS : BETWEEN_SLICES_MS;
    }
    for await (const some of this.incomplete.inStretch(kind, stretch))
      await this.forgetStale(kind, some, stop);
    return BETWEEN_SLICES_MS;
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
