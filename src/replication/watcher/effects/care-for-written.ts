import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { COLLECTION_OF, type Kind } from '../../../record/index.js';
import type { LogPlace } from '../../progress/index.js';
import { EmailReview, PRESENT, type PresentRecord, RecordCare } from '../../repair/index.js';

/** Looks after the records of a batch as they stand behind it. */
@Injectable()
export class CareForWritten {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly care: RecordCare,
    private readonly emailReview: EmailReview,
  ) {}

  /** The written ones are looked at; `concerned` are all of the batch, since an e-mail is free where its member went. */
  async lookAfter(
    kind: Kind,
    { written, concerned, at }: { written: mongo.ObjectId[]; concerned: mongo.ObjectId[]; at: LogPlace },
  ): Promise<void> {
    const noted = await this.care.lookAfter(kind, { records: await this.present(kind, written), at });
    if (kind === 'member') await this.emailReview.review(concerned, noted);
  }

  private async present(kind: Kind, ids: mongo.ObjectId[]): Promise<PresentRecord[]> {
    if (ids.length === 0) return [];
    return this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<PresentRecord>([{ $match: { _id: { $in: ids } } }, { $project: PRESENT }])
      .toArray();
  }
}
