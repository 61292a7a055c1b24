import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { COLLECTION_OF, type Kind, KINDS } from '../../../record/index.js';
import { isIn, type LogPlace, type AppShare, type TermAtWork } from '../../progress/index.js';
import { Quarantine } from '../../quarantine/index.js';
import { EmailReview, PRESENT, type PresentRecord, RecordCare, type RecordLook } from '../../repair/index.js';
import { mayPass } from '../may-pass.js';
import { MissingIds } from './missing-ids.js';

/** Records by their `_id`, and the place in the log behind which they are looked at. */
interface Written {
  written: mongo.ObjectId[];
  /** All of the batch, since an e-mail is free where its member went. */
  concerned: mongo.ObjectId[];
  at: LogPlace;
}

/** Looks after the records of a batch as they stand behind it. */
@Injectable()
export class CareForWritten {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly care: RecordCare,
    private readonly emailReview: EmailReview,
    private readonly missingIds: MissingIds,
    private readonly quarantine: Quarantine,
  ) {}

  /**
   * The written ones that still are in the share of the term are looked at; where too many of them lack an `id`, these wait. One that
   * has left the share is looked after where it came to.
   */
  async lookAfter(kind: Kind, { written, concerned, at }: Written, term: TermAtWork): Promise<void> {
    const records = this.missingIds.notWaiting(kind, await this.present(kind, written, term.share));
    await this.repair(kind, { records, at, term }, concerned);
  }

  /** Looks after some of those that wait. One that cannot be looked after is set aside. */
  async lookAfterWaiting(at: LogPlace, term: TermAtWork): Promise<void> {
    for (const kind of KINDS)
      await this.lookAfterEach(kind, await this.missingIds.next(kind, term.share), { at, term });
  }

  private async lookAfterEach(
    kind: Kind,
    ids: mongo.ObjectId[],
    look: Omit<RecordLook, 'records'>,
  ): Promise<void> {
    if (ids.length === 0) return;
    look.term.showLife();
    try {
      await this.repair(kind, { records: await this.present(kind, ids, look.term.share), ...look }, ids);
    } catch (error) {
      if (mayPass(error)) throw error;
      if (ids.length === 1)
        await this.quarantine.setAside({ what: 'record', kind, owner: ids[0]! }, 'giving it an id', error);
      const half = Math.ceil(ids.length / 2);
      if (ids.length > 1)
        for (const some of [ids.slice(0, half), ids.slice(half)]) await this.lookAfterEach(kind, some, look);
    }
  }

  private async repair(kind: Kind, look: RecordLook, concerned: mongo.ObjectId[]): Promise<void> {
    const noted = await this.care.lookAfter(kind, look);
    if (kind === 'member') await this.emailReview.review(concerned, noted);
  }

  private async present(kind: Kind, ids: mongo.ObjectId[], share: AppShare): Promise<PresentRecord[]> {
    if (ids.length === 0) return [];
    const found = await this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<PresentRecord>([{ $match: { _id: { $in: ids } } }, { $project: PRESENT }])
      .toArray();
    return found.filter((record) => isIn(share, record));
  }
}
