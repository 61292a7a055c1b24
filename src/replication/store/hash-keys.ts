import type { mongo, Model } from 'mongoose';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { isDuplicateKey } from '../../platform/database/index.js';
import type { Tenant } from '../../record/index.js';
import { HASH_KEY_MODEL, type HashKey } from './collections.schema.js';
import { isHashKey, newHashKey } from './hashed-fields.js';

/** The keys of the hashes, one for each application (contract §7). */
@Injectable()
export class HashKeys {
  constructor(@InjectModel(HASH_KEY_MODEL) private readonly keys: Model<HashKey>) {}

  /** The key of an application, which is made if there is none. Undefined if the stored one cannot be read. */
  async of({ organizationid, appid }: Tenant): Promise<mongo.Binary | undefined> {
    const tenant = { organizationid, appid };
    const stored = (await this.find(tenant)) ?? (await this.make(tenant)) ?? (await this.find(tenant));
    return stored !== null && isHashKey(stored.key) ? stored.key : undefined;
  }

  private find(tenant: Tenant): Promise<HashKey | null> {
    return this.keys.collection.findOne<HashKey>(tenant);
  }

  /** Returns null if another leader was first. */
  private async make(tenant: Tenant): Promise<HashKey | null> {
    const made = { ...tenant, key: newHashKey() };
    try {
      await this.keys.collection.insertOne({ ...made });
      return made;
    } catch (error) {
      if (isDuplicateKey(error)) return null;
      throw error;
    }
  }
}
