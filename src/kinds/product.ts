import { holds, type KindDescription } from './kind.js';

/** Goods. Only other programs write them. */
export const product: KindDescription = {
  plural: 'products',
  collection: 'products',
  alwaysHasChannels: true,
  hasChannelFeeds: true,
  isPerson: false,
  seemsOther: (data) =>
    holds(data, 'accountnumber') && holds(data, 'email')
      ? { kind: 'member', why: 'has data.accountnumber and data.email, as members have' }
      : undefined,
};
