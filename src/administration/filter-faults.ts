import type { mongo } from 'mongoose';
import {
  type Filter,
  filterFault,
  isEnabled,
  isNamed,
  effortInSteps,
  type ServiceKey,
  SERVICES,
  type StoredService,
} from '../application/plain.js';
import { TimeSlice } from '../common/index.js';
import { FILTER_VERSIONS, type FilterVersionChange } from '../replication/filters/plain.js';
import { nameOfService } from './services.js';

const MOST_SHOWN = 20;
/** Services read at a time; each may take 64 KB or more. */
const AT_ONCE = 20;

const BEYOND = 'The application exceeds its limit of services, and this is one of those that came last.';

/** An enabled service that could not be saved today, with the filter that it has or with any. */
export interface FaultyFilter {
  /** Such as `product service "erp" of acme/webshop`. */
  service: string;
  detail: string;
  /** Whether it is served anyway: a filter stored before its regular expressions were refused still is. */
  isServed: boolean;
}

/** How many such services there are, and the first of them. */
export async function faultyFilters(db: mongo.Db): Promise<{ services: number; first: FaultyFilter[] }> {
  const sort = { organizationid: 1, appid: 1, kind: 1, name: 1 } as const;
  const stored = db.collection(SERVICES).find<StoredService>({}, { sort, batchSize: AT_ONCE });
  const beyond = await beyondLimits(db);
  const first: FaultyFilter[] = [];
  let services = 0;
  const slice = new TimeSlice();
  for await (const service of stored) {
    await slice.step();
    if (!isNamed(service) || !isEnabled(service)) continue;
    const isBeyond = beyond.has(nameOfService(service));
    const invalid = isBeyond ? BEYOND : filterFault(service.filter);
    const detail = invalid ?? (await slice.take(effortInSteps(service.filter as Filter)));
    if (detail === undefined) continue;
    services += 1;
    if (first.length < MOST_SHOWN)
      first.push({ service: nameOfService(service), detail, isServed: invalid === undefined });
  }
  return { services, first };
}

/** The names of those that are not served since their application has more than are allowed. */
async function beyondLimits(db: mongo.Db): Promise<Set<string>> {
  const found = db
    .collection<ServiceKey & FilterVersionChange>(FILTER_VERSIONS)
    .find({ state: 'beyond' })
    .project<ServiceKey>({ organizationid: 1, appid: 1, kind: 1, name: 1 });
  const names = new Set<string>();
  for await (const key of found) names.add(nameOfService(key));
  return names;
}
