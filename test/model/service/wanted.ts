import { type WantedFilter, wantedOf } from '../../../src/replication/protocol/filter-version.js';
import type { ModelService, ModelState } from '../world/documents.js';

const known = new WeakMap<ModelService, WantedFilter>();

/** What a service requests in a state. Computed once for each document: a schedule asks thousands of times. */
export function wantedIn({ services }: ModelState, name: string): WantedFilter {
  const service = services.get(name);
  if (service === undefined) return wantedOf(undefined);
  const wanted = known.get(service) ?? wantedOf(service);
  known.set(service, wanted);
  return wanted;
}
