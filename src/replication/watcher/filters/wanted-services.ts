import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { isNamed, SERVICE_MODEL, type ServiceKey, type StoredService } from '../../../application/index.js';
import { amongServices, filterAt, nameAt } from '../../store/index.js';

/** Reads only values that can be names. A document with any other value names no service. */
const NAMES = {
  ...{ organizationid: nameAt('$organizationid'), appid: nameAt('$appid') },
  ...{ kind: nameAt('$kind'), name: nameAt('$name') },
};
const REGISTERED = { ...NAMES, bytes: { $bsonSize: '$$ROOT' } };
const WISH = {
  ...{ _id: 0, ...NAMES, filter: filterAt('$filter') },
  enabled: { $eq: [{ $ifNull: ['$enabled', true] }, true] },
};
const AT_ONCE = 1000;

export type WantedService = ServiceKey & Pick<StoredService, 'filter' | 'enabled'>;

/** A document of `services`, and the service that it names, if any. */
export interface NamedService {
  _id: unknown;
  key: ServiceKey | undefined;
  /** The size of the whole document. */
  bytes: number;
}

/** Reads `services`, which operators write. */
@Injectable()
export class WantedServices {
  constructor(@InjectModel(SERVICE_MODEL) private readonly services: Model<StoredService>) {}

  /** Reads the services that these documents name, or all documents. Deleted documents are left out. */
  async *named(ids?: mongo.ObjectId[]): AsyncGenerator<NamedService[]> {
    const which = ids === undefined ? {} : { _id: { $in: ids } };
    const found = this.services.collection.find<StoredService & { _id: unknown; bytes: number }>(which, {
      projection: REGISTERED,
      batchSize: AT_ONCE,
    });
    while (await found.hasNext())
      yield found.readBufferedDocuments().map(({ _id, bytes, ...service }) => ({
        _id,
        bytes,
        key: isNamed(service) ? keyOf(service) : undefined,
      }));
  }

  /** The wanted versions of these services. A service without a document is left out. */
  async wishes(keys: ServiceKey[]): Promise<WantedService[]> {
    if (keys.length === 0) return [];
    const found = this.services.collection.find<StoredService>(amongServices(keys), { projection: WISH });
    return (await found.toArray()).filter(isNamed);
  }
}

function keyOf({ organizationid, appid, kind, name }: ServiceKey): ServiceKey {
  return { organizationid, appid, kind, name };
}
