/**
 * The rooms of `src/` and what each may import. A room is a folder with an `index.ts`; other rooms see nothing
 * else of it. The order is the one in which the source is best read. ESLint turns this table into errors.
 */
const ground = ['config', 'common', 'database'];
const tenancy = [...ground, 'record', 'auth', 'application'];
const records = [...tenancy, 'member', 'product'];
const replication = [
  'replication/ledger',
  'replication/mark',
  'replication/effective',
  'replication/watcher',
  'replication/feed',
];

export const rooms = {
  config: [],
  common: ['config'],
  database: ['config', 'common'],
  record: ground,
  auth: ground,
  application: [...ground, 'auth', 'record'],
  member: tenancy,
  product: tenancy,
  'replication/ledger': records,
  'replication/mark': [...records, 'replication/ledger'],
  'replication/effective': [...records, 'replication/mark'],
  'replication/watcher': [...records, 'replication/ledger', 'replication/mark', 'replication/effective'],
  'replication/feed': [...records, 'replication/ledger', 'replication/mark', 'replication/effective'],
  health: [...records, ...replication],
  admin: [...records, ...replication],
  demo: [...records, 'admin'],
};
