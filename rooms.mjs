/**
 * The rooms of `src/`, from the ground up: a room imports only from rooms before it in this list. A room is a folder with an
 * `index.ts`, and other rooms import nothing else of it. Some have lighter doors: `plain.ts` works without Nest, so that
 * commands load no service, and `pure.ts` needs no driver either; the index exports what they export. Lint turns this list
 * into errors.
 */
export const rooms = [
  'platform/config',
  'platform/common',
  'platform/http',
  'platform/observability',
  'embedded',
  'platform/database',
  'platform/control',
  'kinds',
  'record',
  'auth',
  'application',
  'trail',
  'replication/protocol',
  'replication/transcode',
  'replication/store',
  'replication/schema',
  'member',
  'replication/watcher',
  'replication/feed',
  'health',
  'administration',
  'administration/http',
  'administration/console',
  'administration/cli/import',
  'administration/cli',
  'demo',
];
