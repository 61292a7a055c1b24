import type { mongo } from 'mongoose';
import type { ServiceKey } from '../../application/index.js';

/**
 * The documents of these services, by the index of what names a service. Names are listed for each application and kind: MongoDB
 * plans each part of `$or` by itself, which takes most of the time where each service is a part.
 */
export function amongServices(keys: ServiceKey[]): mongo.Document {
  const parts = new Map<string, { of: Omit<ServiceKey, 'name'>; names: string[] }>();
  for (const { name, organizationid, appid, kind } of keys) {
    const of = { organizationid, appid, kind };
    const part = JSON.stringify(of);
    const names = parts.get(part)?.names ?? [];
    names.push(name);
    parts.set(part, { of, names });
  }
  return { $or: [...parts.values()].map(({ of, names }) => ({ ...of, name: { $in: names } })) };
}
