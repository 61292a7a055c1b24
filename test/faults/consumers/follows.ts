import type { Kind } from '../../../src/kinds/index.js';
import { DEAR, FOLLOWED_CHANNEL, type ServiceName } from '../plan/index.js';

/** What a consumer follows: the paths behind `/{org}/{app}/api/v1/`. */
export interface Follows {
  name: string;
  kind: Kind;
  updates: string;
  softdeletes: string;
  harddeletes: string;
  /** In the other application. */
  isElsewhere?: true;
  /** The registered filter by which it is judged; nothing where none filters it. */
  service?: ServiceName | typeof DEAR.name;
  /** The channel by which it is judged. */
  channel?: string;
}

/** The consumers of a history. */
export const FOLLOWED: readonly Follows[] = [
  { name: 'all products', ...paths('product', 'product/default') },
  { name: 'products by alpha', service: 'alpha', ...paths('product', 'product/alpha') },
  { name: 'products by beta', service: 'beta', ...paths('product', 'product/beta') },
  {
    name: 'products by channel',
    channel: FOLLOWED_CHANNEL,
    ...paths('product', `productbychannel/${FOLLOWED_CHANNEL}`),
  },
  { name: 'all members', ...paths('member', 'member/default') },
  { name: 'all products elsewhere', isElsewhere: true, ...paths('product', 'product/default') },
  { name: 'all members elsewhere', isElsewhere: true, ...paths('member', 'member/default') },
  { name: 'all orders', ...paths('order', 'order/default') },
  { name: 'all orders elsewhere', isElsewhere: true, ...paths('order', 'order/default') },
  { name: 'all prices', ...paths('price', 'price/default') },
  { name: 'dear prices', service: DEAR.name, ...paths('price', `price/${DEAR.name}`) },
  { name: 'all offers', ...paths('offer', 'offer/default') },
  { name: 'all offers elsewhere', isElsewhere: true, ...paths('offer', 'offer/default') },
];

function paths(kind: Kind, base: string) {
  return {
    kind,
    updates: `${base}/updates`,
    softdeletes: `${base}/softdeletes`,
    harddeletes: `${kind}/harddeletes`,
  };
}
