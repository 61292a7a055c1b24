import { Injectable } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { type Kind, KINDS } from '../../../record/index.js';
import { ALL, isIn, type AppShare } from '../../progress/index.js';
import { IncompleteIdentities } from '../../ledger/index.js';
import { lacksId, type PresentRecord } from '../../repair/index.js';

/** How many records get an `id` in one go. */
const AT_ONCE = 100;
/** How many incomplete identities are looked through for them in one go: there may be many that can get none. */
const LOOKED_AT = 1000;

/** A walk along the incomplete identities; `again`: what it has left behind has grown meanwhile. */
interface Walk {
  behind?: mongo.ObjectId;
  again?: boolean;
}

/**
 * The records without an `id` that wait for theirs. A bulk of them would hold up everybody else's changes, and nobody is
 * shown them before, so of a batch that has many none gets its `id` at once. They are remembered among the incomplete
 * identities, and found there again.
 */
@Injectable()
export class MissingIds {
  private readonly walks = new Map<Kind, Walk>();

  constructor(private readonly incomplete: IncompleteIdentities) {}

  /** It is unknown what has been waiting since the previous term, or in an application that comes to the share once more. */
  beginTerm(): void {
    for (const kind of KINDS) this.walks.set(kind, {});
  }

  /** The records of a batch that can be looked after at once; the others wait. */
  notWaiting(kind: Kind, records: PresentRecord[]): PresentRecord[] {
    const others = records.filter((record) => !lacksId(record));
    if (records.length - others.length <= AT_ONCE) return records;
    const walk = this.walks.get(kind);
    if (walk === undefined) this.walks.set(kind, {});
    else walk.again = true;
    return others;
  }

  /**
   * Some of a share that may be waiting, as many as can be looked after between two batches. The walk may be another one by the time
   * of the answer, since a term that was given up may ask, too: it ends its own alone.
   */
  async next(kind: Kind, share: AppShare = ALL): Promise<mongo.ObjectId[]> {
    const walk = this.walks.get(kind);
    if (walk === undefined) return [];
    const stretch = await this.incomplete.nextStretch(kind, walk.behind, LOOKED_AT);
    if (stretch === undefined) {
      if (this.walks.get(kind) === walk) this.end(kind, walk);
      return [];
    }
    const waiting: mongo.ObjectId[] = [];
    for await (const some of this.incomplete.inStretch(kind, stretch))
      waiting.push(
        ...some.filter(({ _id, isNumber }) => !isNumber && isIn(share, _id)).map(({ _id }) => _id.owner),
      );
    const next = waiting.slice(0, AT_ONCE);
    walk.behind = next.length < waiting.length ? next.at(-1)! : stretch.end;
    return next;
  }

  private end(kind: Kind, { again }: Walk): void {
    if (again) this.walks.set(kind, {});
    else this.walks.delete(kind);
  }
}
