import type { Connection, mongo } from 'mongoose';
import { WATCHER, type WatchState } from '../replication/mark/index.js';
import { databaseOf } from './session.js';

const COUNTED = ['applications', 'services', 'credentials', 'members', 'products', 'ledger'] as const;
const MOST_DUPLICATES = 20;
const MS = 1000;

export interface WatcherStatus {
  /** The leading instance; nothing where none leads. */
  leader: string | undefined;
  /** Database's clock. */
  leaseExpires: Date | undefined;
  /** End of the last pass over the collections. */
  since: Date | undefined;
  /** How far behind the database the watcher is, in whole seconds. */
  lagSeconds: number | undefined;
}

/** Two or more members of one application that share an e-mail; `_id`s of those that came second. */
export interface EmailDuplicates {
  organizationid: string;
  appid: string;
  emailkey: string;
  members: string[];
}

export interface Status {
  database: { name: string; version: string; replicaSet: string | undefined };
  /** Indexes that the service needs and that do not stand, such as `members: organizationid, appid, id`. */
  missingIndexes: string[];
  watcher: WatcherStatus;
  documents: Record<(typeof COUNTED)[number], number>;
  emailDuplicates: { members: number; first: EmailDuplicates[] };
}

/** How the database and the watcher stand. */
export async function statusOf(connection: Connection): Promise<Status> {
  const db = databaseOf(connection);
  const hello = await db.admin().command({ hello: 1 });
  const { version } = (await db.admin().buildInfo()) as { version: string };
  return {
    database: { name: connection.name, version, replicaSet: hello['setName'] as string | undefined },
    missingIndexes: await missingIndexes(connection),
    watcher: await watcherStatus(db, hello['localTime'] as Date),
    documents: await documentCounts(db),
    emailDuplicates: await emailDuplicates(db),
  };
}

async function missingIndexes(connection: Connection): Promise<string[]> {
  const missing = await Promise.all(
    Object.values(connection.models).map(async (model) => {
      const { toCreate } = await model.diffIndexes();
      return (toCreate as object[]).map(
        (keys) => `${model.collection.collectionName}: ${Object.keys(keys).join(', ')}`,
      );
    }),
  );
  return missing.flat();
}

async function watcherStatus(db: mongo.Db, clock: Date): Promise<WatcherStatus> {
  const state = await db.collection<WatchState>('leases').findOne({ _id: WATCHER });
  const leads = state !== null && state.expires > clock;
  const watched = timeOf(state?.watched);
  return {
    leader: leads ? state.holder : undefined,
    leaseExpires: state?.expires,
    since: timeOf(state?.since),
    lagSeconds: watched && Math.max(0, Math.floor((clock.getTime() - watched.getTime()) / MS)),
  };
}

async function documentCounts(db: mongo.Db): Promise<Status['documents']> {
  const counts = await Promise.all(
    COUNTED.map(async (name) => [name, await db.collection(name).estimatedDocumentCount()] as const),
  );
  return Object.fromEntries(counts) as Status['documents'];
}

async function emailDuplicates(db: mongo.Db): Promise<Status['emailDuplicates']> {
  const noted = db.collection('emailduplicates');
  const groups = await noted
    .aggregate<{ _id: Omit<EmailDuplicates, 'members'>; members: mongo.ObjectId[] }>([
      {
        $group: {
          _id: { organizationid: '$organizationid', appid: '$appid', emailkey: '$emailkey' },
          members: { $push: '$_id' },
        },
      },
      { $sort: { _id: 1 } },
      { $limit: MOST_DUPLICATES },
    ])
    .toArray();
  const first = groups.map(({ _id, members }) => ({ ..._id, members: members.map(String) }));
  return { members: await noted.estimatedDocumentCount(), first };
}

/** The second of a cluster time. */
function timeOf(timestamp: mongo.Timestamp | undefined): Date | undefined {
  return timestamp && new Date(timestamp.getHighBitsUnsigned() * MS);
}
