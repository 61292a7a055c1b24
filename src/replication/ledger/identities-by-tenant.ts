import type { Tenant } from '../../record/index.js';
import type { Identity } from './identity.js';

/** Identities of one kind as queries ask for them: the `id`s of each application. */
export function identitiesByTenant(identities: Identity[]): (Tenant & { ids: string[] })[] {
  const tenants = new Map<string, Tenant & { ids: string[] }>();
  for (const { organizationid, appid, id } of identities) {
    const name = JSON.stringify([organizationid, appid]);
    const tenant = tenants.get(name) ?? { organizationid, appid, ids: [] };
    tenants.set(name, tenant);
    tenant.ids.push(id);
  }
  return [...tenants.values()];
}
