import type { mongo } from 'mongoose';
import {
  type Filter,
  filterFault,
  isEnabled,
  isNamed,
  effortFault,
  SERVICES,
  type StoredService,
} from '../application/index.js';
import { nameOfService } from './services.js';

const MOST_SHOWN = 20;
/** Services read at a time; each may take 64 KB or more. */
const AT_ONCE = 20;

/** An enabled service whose filter could not be saved today. */
export interface FaultyFilter {
  /** Such as `product service "erp" of acme/webshop`. */
  service: string;
  detail: string;
  /** Whether it is served anyway: a filter stored before its regular expressions were refused still is. */
  isServed: boolean;
}

/** How many services have such filters, and the first of them. */
export async function faultyFilters(db: mongo.Db): Promise<{ services: number; first: FaultyFilter[] }> {
  const sort = { organizationid: 1, appid: 1, kind: 1, name: 1 } as const;
  const stored = db.collection(SERVICES).find<StoredService>({}, { sort, batchSize: AT_ONCE });
  const first: FaultyFilter[] = [];
  let services = 0;
  for await (const service of stored) {
    if (!isNamed(service) || !isEnabled(service)) continue;
    const invalid = filterFault(service.filter);
    const detail = invalid ?? effortFault(service.filter as Filter);
    if (detail === undefined) continue;
    services += 1;
    if (first.length < MOST_SHOWN)
      first.push({ service: nameOfService(service), detail, isServed: invalid === undefined });
  }
  return { services, first };
}
