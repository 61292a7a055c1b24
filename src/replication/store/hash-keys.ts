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

  /** The keys of these applications. Makes those that do not exist, and leaves out those that cannot be read. */
  async among(tenants: Tenant[]): Promise<(Tenant & { key: mongo.Binary })[]> {
    if (tenants.length === 0) return [];
    const $or = tenants.map(({ organizationid, appid }) => ({ organizationid, appid }));
    const find = () => this.keys.collection.find<HashKey>({ $or }).toArray();
    const stored = await find();
    const isStored = (one: Tenant) =>
      stored.some(
        ({ organizationid, appid }) => organizationid === one.organizationid && appid === one.appid,
      );
    const missing = $or.filter((one) => !isStored(one));
    if (missing.length > 0) await this.make(missing);
    const found = missing.length > 0 ? await find() : stored;
    return found.filter(({ key }) => isHashKey(key));
  }

  /** Another leader may be faster with some of them. */
  private async make(tenants: Tenant[]): Promise<void> {
    const made = tenants.map((tenant) => ({ ...tenant, key: newHashKey() }));
    await this.keys.collection.insertMany(made, { ordered: false }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  }
}
