import type { KnownChannel } from './known-channel.schema.js';

/** The channels as those of an application; none where the record that carries them is in no application. */
export function inTenant(
  { organizationid, appid }: { organizationid?: unknown; appid?: unknown },
  channels: string[],
): KnownChannel[] {
  if (typeof organizationid !== 'string' || typeof appid !== 'string') return [];
  return channels.map((channel) => ({ organizationid, appid, channel }));
}
