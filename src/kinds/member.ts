import { holds, type KindDescription } from './kind.js';

/** People. The service writes them as well as other programs (contract §2). */
export const member: KindDescription = {
  name: 'member',
  plural: 'members',
  collection: 'members',
  indexes: [{ fields: { organizationid: 1, appid: 1, emailkey: 1 }, uniqueText: 'emailkey' }],
  alwaysHasChannels: false,
  hasChannelFeeds: false,
  isPerson: true,
  seemsOther: (data) =>
    holds(data, 'accountnumber')
      ? undefined
      : { kind: 'product', why: 'has no data.accountnumber, which members have' },
};
