import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import type { StoredMoment } from './moment.js';
import { MOMENT_MODEL } from './moment.schema.js';

/** The only writer of `tidemark.moments`. */
@Injectable()
export class MomentWriter {
  constructor(@InjectModel(MOMENT_MODEL) private readonly moments: Model<StoredMoment>) {}

  /** Everything that the moments stand for is written before: one may be shown as soon as `watched` has come to it. */
  async write(moments: StoredMoment[]): Promise<void> {
    if (moments.length === 0) return;
    const writes = moments.map(({ passed, ...moment }) => ({
      updateOne: { filter: moment, update: { $setOnInsert: { passed } }, upsert: true },
    }));
    await this.moments.collection.bulkWrite(writes, { ordered: false });
  }
}
