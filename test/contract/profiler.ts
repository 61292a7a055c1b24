import type { mongo } from 'mongoose';

/** A command as the database's profiler has seen it. */
export interface Profiled extends mongo.Document {
  op: string;
  ns: string;
  command: mongo.Document;
  keysExamined?: number;
  docsExamined?: number;
}

/** By default the profile holds one megabyte only, and forgets what came first. */
const PROFILE_BYTES = 64 * 1024 * 1024;

/** The samples for schemas are taken some time after any change, at the service's own choice. */
const SAMPLE = 'tidemark schema';

/** Each instance checks the storage format every five seconds, beside all else. */
const FORMAT = 'tidemark format';

/** The leader looks at it every ten seconds. */
const QUARANTINE = 'tidemark quarantine';

/** The leader compares the ledger with the records, a slice at a time. */
const AUDIT = 'tidemark audit';

/** The leader's jobs read how far the watcher has come, and read through the records, at times of their own. */
const JOBS = 'tidemark jobs';

/** What an instance does at times of its own. */
const BESIDE = [SAMPLE, FORMAT, QUARANTINE, AUDIT, JOBS];

/**
 * Every command that a database received while something was done, in the order in which they ended, without those that are
 * independent of it: samples, checks of the storage format, reads of the quarantine, the audit, and what jobs read of the
 * progress and of all records.
 */
export async function commandsDuring(db: mongo.Db, work: () => Promise<unknown>): Promise<Profiled[]> {
  await db.command({ profile: 0 });
  while (!(await isMadeAnew(db)));
  await db.command({ profile: 2 });
  try {
    await work();
  } finally {
    await db.command({ profile: 0 });
  }
  return db
    .collection('system.profile')
    .find<Profiled>({ 'command.comment': { $nin: BESIDE } })
    .toArray();
}

/** A command that began before the profiler was off may still make the profile itself, in its own size. */
async function isMadeAnew(db: mongo.Db): Promise<boolean> {
  await db.collection('system.profile').drop();
  return db.createCollection('system.profile', { capped: true, size: PROFILE_BYTES }).then(
    () => true,
    (error: mongo.MongoServerError) => {
      if (error.codeName !== 'NamespaceExists') throw error;
      return false;
    },
  );
}

/** What a command did and to which collection, such as `find members`. */
export function nameOf({ op, ns, command }: Profiled): string {
  const what = op === 'command' || op === 'query' ? Object.keys(command)[0] : op;
  return `${what} ${ns.slice(ns.indexOf('.') + 1)}`;
}
