import type { mongo } from 'mongoose';
import type { Filter } from '../../../application/index.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../../../record/index.js';
import { LEDGER } from '../../ledger/index.js';

/** Which documents a feed is about, whatever the window: one shape over records and tombstones. */
export interface Selection {
  collection: string;
  /** Equalities that every query and every index begins with. */
  scope: mongo.Document;
  /** What else must hold; absent for everything in scope. */
  filter?: Filter;
  /** Of records: their kind. */
  kind?: Kind;
  /** Of tombstones: the collection in which no record may live under the same `id`. */
  records?: string;
}

/** Records that match the filter, or all of them. */
export function matching(tenant: Tenant, kind: Kind, filter?: Filter): Selection {
  return {
    ...recordsOf(tenant, kind),
    ...(filter && { filter }),
  };
}

/** Records of the same collection that do not match the filter. */
export function notMatching(tenant: Tenant, kind: Kind, filter: Filter): Selection {
  return { ...recordsOf(tenant, kind), filter: { $nor: [filter] } };
}

/** The tombstones of the ledger, but for those under whose `id` a record lives. */
export function tombstones({ organizationid, appid }: Tenant, kind: Kind): Selection {
  const scope = { organizationid, appid, kind, alive: false };
  return { collection: LEDGER, scope, records: COLLECTION_OF[kind] };
}

/** The filter of a channel. */
export function carries(channel: string): Filter {
  return { channels: { $eq: channel } };
}

function recordsOf({ organizationid, appid }: Tenant, kind: Kind): Selection {
  return { collection: COLLECTION_OF[kind], scope: { organizationid, appid }, kind };
}
