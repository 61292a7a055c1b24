import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import type { Kind, Tenant } from '../../record/index.js';
import { HORIZON_MODEL, type StoredHorizon } from './collections.schema.js';

/**
 * The horizon of an application and kind: the greatest stamp of a hard delete ever removed. Hard deletes above it are kept.
 * The horizon only moves forward, and moves before anything is removed.
 */
@Injectable()
export class Horizon {
  constructor(@InjectModel(HORIZON_MODEL) private readonly horizons: Model<StoredHorizon>) {}

  private get collection(): mongo.Collection<StoredHorizon> {
    return this.horizons.collection as unknown as mongo.Collection<StoredHorizon>;
  }

  /** Undefined if everything is kept. */
  async read({ organizationid, appid }: Tenant, kind: Kind): Promise<Date | undefined> {
    const horizon = await this.collection.findOne({ _id: { organizationid, appid, kind } });
    return horizon?.lastupdated;
  }

  async moveTo(lastupdated: Date, { organizationid, appid }: Tenant, kind: Kind): Promise<void> {
    const _id = { organizationid, appid, kind };
    await this.collection.updateOne({ _id }, { $max: { lastupdated } }, { upsert: true });
  }
}
