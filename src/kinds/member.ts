import { holds, type KindDescription } from './kind.js';

/** People. The service writes them as well as other programs (contract §2). */
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
