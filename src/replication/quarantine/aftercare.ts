import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { pause } from '../../common/index.js';
import { isDatabaseAway, isRetryable, readAsOf } from '../../database/index.js';
import { COLLECTION_OF, type Kind } from '../../record/index.js';
import { FilterChanges } from '../filters/index.js';
import {
  type Identity,
  identityOf,
  isSame,
  Ledger,
  type LedgerChange,
  type Life,
  IncompleteIdentities,
  textsOf,
} from '../ledger/index.js';
import {
  type Job,
  type Now,
  type LogPlace,
  placeBehind,
  type TermAtWork,
  WorkedThrough,
} from '../progress/index.js';
import { IgnoredRecords, PRESENT, type PresentRecord, RecordCare } from '../repair/index.js';
import { Resurrections, Restamps } from '../stamping/index.js';
import { Quarantine } from './quarantine.js';
import type { ConcernedRecord, SetAside } from './set-aside.schema.js';

const BETWEEN_LOOKS_MS = 1000;
/** For so long entries are looked at as of one moment: on an idle server the watcher takes two seconds to come to another. */
const ONE_MOMENT_MS = 5000;

/**
 * Looks after what was set aside, as a pass would: learns what a record is, or that it is gone, repairs it and stamps it
 * anew, so that no consumer misses what the event may have hidden.
 */
@Injectable()
export class Aftercare implements Job {
  readonly name = 'The care for what was set aside';
  private term: TermAtWork | undefined;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly quarantine: Quarantine,
    private readonly workedThrough: WorkedThrough,
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
    private readonly care: RecordCare,
    private readonly filters: FilterChanges,
    private readonly ignored: IgnoredRecords,
    private readonly resurrections: Resurrections,
    private readonly restamps: Restamps,
  ) {}

  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    if (term !== this.term) this.quarantine.beginTerm();
    this.term = term;
    if (!this.quarantine.mayHaveEntries) return this.untilSomething(stop);
    const { clock } = await this.workedThrough.now();
    let now: Now | undefined;
    let taken = 0;
    for (const entry of await this.quarantine.due(clock)) {
      if (now === undefined || performance.now() - taken > ONE_MOMENT_MS) {
        now = await this.workedThrough.now();
        taken = performance.now();
        if (!(await this.workedThrough.upTo(now.at, stop))) break;
      }
      await this.tryOne(entry, now, term);
    }
    return BETWEEN_LOOKS_MS;
  }

  /** Asks the database nothing meanwhile. Then the next step comes at once, if no pass is under way. */
  private async untilSomething(stop: AbortSignal): Promise<number> {
    while (!this.quarantine.mayHaveEntries && !stop.aborted) await pause(BETWEEN_LOOKS_MS, stop);
    return 0;
  }

  private async tryOne(entry: SetAside, now: Now, term: TermAtWork): Promise<void> {
    try {
      await this.lookAfter(entry, now, term);
      await this.quarantine.settle(entry);
    } catch (error) {
      if (isDatabaseAway(error) || isRetryable(error)) throw error;
      await this.quarantine.postpone(entry, now.clock, error);
    }
  }

  private async lookAfter(
    { _id: concern, identities = [] }: SetAside,
    { at }: Now,
    term: TermAtWork,
  ): Promise<void> {
    switch (concern.what) {
      case 'record':
        return this.lookAfterRecord(concern, identities, at, term);
      case 'tombstone':
        return this.lookAfterTombstone(concern.owner, placeBehind(at), term);
      case 'services':
        return this.filters.look(undefined, term);
    }
  }

  /** Everything up to `at` is worked through, so what is seen as of it is what the log up to there came to. */
  private async lookAfterRecord(
    concern: ConcernedRecord,
    identities: Identity[],
    at: mongo.Timestamp,
    term: TermAtWork,
  ): Promise<void> {
    const { kind, owner } = concern;
    const place = placeBehind(at);
    const record = await this.record(kind, owner, at);
    const identity = record && identityOf(kind, owner, record);
    await this.quarantine.remember(concern, identity);
    const owned = await this.ledger.ownedBy(kind, [owner]);
    const unlearned = await this.ledger.notLiving(kind, identities);
    const deaths = [
      ...owned.map((one) => ({ identity: one, shortLived: false })),
      ...unlearned.map((one) => ({ identity: one, shortLived: true })),
    ];
    const changes: LedgerChange[] = deaths
      .filter((death) => !isSame(death.identity, identity))
      .map((death) => ({ ...death, at: place, alive: false as const }));
    const life = identity && lifeOf(identity, owner, place, record);
    if (record !== undefined && identity === undefined)
      await this.incomplete.keep(kind, [{ owner, partial: textsOf(record, place) }]);
    await this.resurrections.learn(kind, changes, new Map(), term);
    const rivals = await this.resurrections.learnSeen(kind, life ? [life] : [], term);
    if (rivals.length > 0) await this.ignored.hearRivals(kind, rivals);
    const isWaiting = rivals.some((rival) => rival.owner === owner.toHexString());
    if (record === undefined || (identity !== undefined && !isWaiting))
      await this.ignored.forgetIncomplete(kind, [owner], place);
    const records = record === undefined ? [] : [record];
    await this.care.lookAfter(kind, { records, at: place, term });
    await this.restamps.records(kind, [owner], 'quarantine', term);
  }

  private async lookAfterTombstone(entry: mongo.ObjectId, at: LogPlace, term: TermAtWork): Promise<void> {
    const [tombstone] = await this.ledger.among([entry]);
    if (tombstone === undefined || tombstone.alive) return;
    await this.restamps.tombstones([entry], 'quarantine', term);
    await this.resurrections.look(tombstone.kind, [tombstone], { at, fences: new Map() }, term);
  }

  private async record(
    kind: Kind,
    _id: mongo.ObjectId,
    at: mongo.Timestamp,
  ): Promise<PresentRecord | undefined> {
    const [record] = await readAsOf(this.connection.getClient(), at, (snapshot) =>
      this.connection
        .collection(COLLECTION_OF[kind])
        .aggregate<PresentRecord>([{ $match: { _id } }, { $project: PRESENT }], { ...snapshot })
        .toArray(),
    );
    return record;
  }
}

function lifeOf(
  identity: Identity,
  owner: mongo.ObjectId,
  at: LogPlace,
  stored: Pick<PresentRecord, 'isNumber'> | undefined,
): Life {
  return { identity, at, alive: true, owner, ...(stored?.isNumber && { isNumber: true }) };
}
