import { holds, type KindDescription } from './kind.js';

/** People. Both the service (contract §2) and other programs write them. */
export const member: KindDescription = {
  plural: 'members',
  collection: 'members',
  alwaysHasChannels: false,
  hasChannelFeeds: false,
  isPerson: true,
  seemsOther: (data) =>
    holds(data, 'accountnumber')
      ? undefined
      : { kind: 'product', why: 'has no data.accountnumber, which members have' },
};
