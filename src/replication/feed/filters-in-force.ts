import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { type Filter, filterFault, type Service, SERVICE_MODEL } from '../../application/index.js';
import { NAME, problems } from '../../common/index.js';
import type { Kind, Tenant } from '../../record/index.js';

/** The service that needs no registration and filters nothing. */
export const DEFAULT_SERVICE = 'default';

/** The one door through which feeds come to the filter of a service. */
@Injectable()
export class FiltersInForce {
  constructor(@InjectModel(SERVICE_MODEL) private readonly services: Model<Service>) {}

  /** The filter; nothing for `default`. Throws 404 `unknown-service` and 500 `service-misconfigured`. */
  async of({ organizationid, appid }: Tenant, kind: Kind, name: string): Promise<Filter | undefined> {
    if (name === DEFAULT_SERVICE) return undefined;
    if (!NAME.test(name)) throw problems.unknownService(kind, name);
    const service = await this.services.findOne({ organizationid, appid, kind, name }).lean();
    if (service === null || service.enabled === false) throw problems.unknownService(kind, name);
    if (filterFault(service.filter) !== undefined) throw problems.serviceMisconfigured(kind, name);
    return service.filter;
  }
}
