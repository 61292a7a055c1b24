import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, type mongo, Schema } from 'mongoose';
import type { Kind, Tenant } from '../../record/index.js';

/** A document of `horizons`: the greatest stamp of a hard delete that is gone, or about to go. */
interface StoredHorizon {
  _id: Tenant & { kind: Kind };
  lastupdated: Date;
}

/** Name of the Mongoose model of `horizons`. */
export const HORIZON_MODEL = 'Horizon';

export const horizonSchema = new Schema<StoredHorizon>(
  { _id: Object },
  { collection: 'horizons', strict: false, versionKey: false },
);

/**
 * Behind which stamp the hard deletes of an application and kind are kept: the greatest one ever removed. It only moves
 * forward, and moves before anything is removed.
 */
@Injectable()
export class Horizon {
  constructor(@InjectModel(HORIZON_MODEL) private readonly horizons: Model<StoredHorizon>) {}

  private get collection(): mongo.Collection<StoredHorizon> {
    return this.horizons.collection as unknown as mongo.Collection<StoredHorizon>;
  }

  /** Nothing where everything is kept. */
  async of({ organizationid, appid }: Tenant, kind: Kind): Promise<Date | undefined> {
    const horizon = await this.collection.findOne({ _id: { organizationid, appid, kind } });
    return horizon?.lastupdated;
  }

  async moveTo(lastupdated: Date, { organizationid, appid }: Tenant, kind: Kind): Promise<void> {
    const _id = { organizationid, appid, kind };
    await this.collection.updateOne({ _id }, { $max: { lastupdated } }, { upsert: true });
  }
}
