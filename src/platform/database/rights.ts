import type { Connection, mongo } from 'mongoose';
import { FatalError } from '../common/index.js';
import { isUnauthorized } from './errors.js';

/** A resource of MongoDB's access control. */
type Resource = { cluster: true } | { db: string; collection: string };

/** An action that the role in docs/roles.js grants to the user of MONGODB_URI. */
interface Right {
  action: string;
  /** On the whole database, on each collection of records, on the oplog, or on the cluster. */
  on: 'database' | 'records' | 'oplog' | 'cluster';
  /** What does not work without it. */
  without: string;
  /** Whether the service cannot keep its promises without it. Otherwise it runs, except for what `without` says. */
  isNeeded: boolean;
}

const NO_START = 'the service does not start, and commands end with an error';
const NO_INDEX = 'a missing index is not created: the service does not start, and feeds answer 503 preparing';

/** A right that the user does not have. */
export interface MissingRight extends Pick<Right, 'action' | 'without' | 'isNeeded'> {
  /** Such as `the database shop`. */
  on: string;
}

const ON_DATABASE: [action: string, without: string][] = [
  ['find', NO_START],
  ['insert', NO_START],
  ['update', NO_START],
  ['changeStream', NO_START],
  ['listCollections', NO_START],
  ['listIndexes', NO_START],
  ['createIndex', NO_INDEX],
  [
    'remove',
    'nothing is removed: commands that remove something end with an error, and obsolete entries stay',
  ],
];

const RIGHTS: readonly Right[] = [
  ...ON_DATABASE.map(([action, without]): Right => ({ action, on: 'database', without, isNeeded: true })),
  {
    action: 'collMod',
    on: 'database',
    without: 'a hidden index stays hidden, and feeds answer 503 preparing meanwhile',
    isNeeded: false,
  },
  {
    action: 'bypassDocumentValidation',
    on: 'records',
    without: 'records whose stamps a validator refuses are quarantined, and delivered late',
    isNeeded: false,
  },
  {
    action: 'serverStatus',
    on: 'cluster',
    without:
      'the gauges tidemark_oplog_… are absent, so it is unknown how long the watcher may be interrupted',
    isNeeded: false,
  },
  {
    action: 'collStats',
    on: 'oplog',
    without:
      'the gauges tidemark_oplog_used_ratio and tidemark_oplog_predicted_window_seconds are absent, so it is ' +
      'unknown how full the oplog is',
    isNeeded: false,
  },
  {
    action: 'getParameter',
    on: 'cluster',
    without: 'a server that keeps no history for reads as of one moment is found only when pages fail',
    isNeeded: false,
  },
];

/**
 * Commands that together need the rights find, insert, update and changeStream. They are only explained: MongoDB then
 * checks the rights, but does not run the commands.
 */
const TRIALS: ((collection: string) => mongo.Document)[] = [
  (collection) => ({ find: collection, limit: 1 }),
  (collection) => ({
    update: collection,
    updates: [{ q: { _id: null }, u: { $set: { trial: 1 } }, upsert: true }],
  }),
  () => ({ aggregate: 1, pipeline: [{ $changeStream: {} }], cursor: {} }),
];

/**
 * Tries rights without which no instance can serve, and changes nothing. `collection` must be one that the service
 * reads and writes, because a role may grant rights on collections instead of the database. Throws the error of the
 * server if a right is missing.
 */
export async function tryRights(db: mongo.Db, collection: string): Promise<void> {
  for (const trial of TRIALS)
    await db.command({ explain: trial(collection), verbosity: 'queryPlanner' }).catch((error: unknown) => {
      // Other errors, such as that of a server that cannot plan the command, say nothing about the rights.
      if (isUnauthorized(error)) throw error;
    });
}

/**
 * If the error is that of a missing right, a FatalError that names the missing actions that the service needs.
 * Otherwise, or if none is known, the error itself.
 */
export async function namedRights(error: unknown, connection: Connection): Promise<unknown> {
  if (!isUnauthorized(error)) return error;
  const missing = (await missingRights(connection, []).catch(() => undefined)) ?? [];
  const needed = missing.filter(({ isNeeded }) => isNeeded).map(({ action }) => action);
  if (needed.length === 0) return error;
  const { name } = connection;
  return new FatalError(
    `The user in MONGODB_URI lacks actions on the database ${name} that the service needs: ${needed.join(', ')}. ` +
      `Give it the role that docs/roles.js creates, or at least readWrite on the database ${name}.`,
  );
}

/** What the connection's user may do; undefined without a login, as on a server without access control. */
async function grantsOf(
  db: mongo.Db,
): Promise<{ resource: mongo.Document; actions: string[] }[] | undefined> {
  const { authInfo } = (await db.command({ connectionStatus: 1, showPrivileges: true })) as {
    authInfo: {
      authenticatedUsers: unknown[];
      authenticatedUserPrivileges?: { resource: mongo.Document; actions: string[] }[];
    };
  };
  return authInfo.authenticatedUsers.length === 0 ? undefined : (authInfo.authenticatedUserPrivileges ?? []);
}

/**
 * The rights that the connection's user lacks, the needed ones first; undefined without a login. `records` names the
 * collections of records.
 */
export async function missingRights(
  connection: Connection,
  records: readonly string[],
): Promise<MissingRight[] | undefined> {
  const db = connection.getClient().db(connection.name);
  const grants = await grantsOf(db);
  if (grants === undefined) return undefined;
  return RIGHTS.flatMap(({ action, on, without, isNeeded }) =>
    resourcesOf(on, db.databaseName, records)
      .filter(
        (wanted) =>
          !grants.some(({ resource, actions }) => actions.includes(action) && covers(resource, wanted)),
      )
      .map((wanted) => ({ action, on: resourceName(wanted), without, isNeeded })),
  );
}

/** A missing right, as a sentence without its final period. */
export function rightSentence({ action, on, without }: MissingRight): string {
  return `${action} on ${on} is missing: ${without}`;
}

function resourcesOf(on: Right['on'], db: string, records: readonly string[]): Resource[] {
  if (on === 'cluster') return [{ cluster: true }];
  if (on === 'oplog') return [{ db: 'local', collection: 'oplog.rs' }];
  return on === 'database' ? [{ db, collection: '' }] : records.map((collection) => ({ db, collection }));
}

/** In a granted resource, an empty name means all databases or all collections. */
function covers(granted: mongo.Document, wanted: Resource): boolean {
  if (granted['anyResource'] === true) return true;
  if ('cluster' in wanted) return granted['cluster'] === true;
  const isOf = (name: unknown, value: string) => name === '' || name === value;
  return isOf(granted['db'], wanted.db) && isOf(granted['collection'], wanted.collection);
}

function resourceName(resource: Resource): string {
  if ('cluster' in resource) return 'the cluster';
  const { db, collection } = resource;
  return collection === '' ? `the database ${db}` : `${db}.${collection}`;
}
