import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { isNamed, SERVICE_MODEL, type ServiceKey, type StoredService } from '../../../application/index.js';
import { amongServices, filterAt, nameAt } from '../../store/index.js';

/** Whatever else stands in place of a name costs nothing, and names nothing. */
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

/** A document of `services`, and the service that it names; nothing where it names none. */
export interface NamedService {
  _id: unknown;
  key: ServiceKey | undefined;
  /** The size of the whole document. */
  bytes: number;
}

/** Reads `services`, which operators write: what names what, and what is wished for. */
@Injectable()
export class WantedServices {
  constructor(@InjectModel(SERVICE_MODEL) private readonly services: Model<StoredService>) {}

  /** What the documents name, or all documents. One that is gone is not among them. */
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

  /** What is wished for these services, as far as it is wished for anything. */
  async wishes(keys: ServiceKey[]): Promise<WantedService[]> {
    if (keys.length === 0) return [];
    const found = this.services.collection.find<StoredService>(amongServices(keys), { projection: WISH });
    return (await found.toArray()).filter(isNamed);
  }
}

function keyOf({ organizationid, appid, kind, name }: ServiceKey): ServiceKey {
  return { organizationid, appid, kind, name };
}
