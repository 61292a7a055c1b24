import type { Connection, mongo } from 'mongoose';
import { FatalError, literal } from '../../platform/common/index.js';
import { CLOCK } from '../../platform/database/plain.js';
import { type Mark, type Restore, WATCHER, type WatchState } from '../protocol/index.js';
import { LEASES, MARKS } from './collections.schema.js';

/** Restores that are kept, newest last. */
const MOST = 100;

/**
 * Records that the database was restored from a backup (contract §3, `source-restored`). `backup` is a time before the backup
 * was begun; without it, the latest time that the database has announced, which is right as long as no instance has run
 * since the restore. Throws a FatalError if one runs, if either time is in the future, and if the database is not one of the
 * service.
 */
export async function noteRestore(connection: Connection, backup?: Date): Promise<Restore> {
  const leases = connection.collection<WatchState>(LEASES);
  const [state] = await leases
    .aggregate<{ clock: Date; isLed: boolean }>([
      { $match: { _id: WATCHER } },
      { $project: { clock: CLOCK, isLed: { $gt: ['$expires', CLOCK] } } },
    ])
    .toArray();
  if (state === undefined)
    throw new FatalError('This database has never been used by the service: there is nothing to tell.');
  if (backup !== undefined && backup > state.clock)
    throw new FatalError(`--backup "${backup.toISOString()}" lies in the future.`);
  if (backup === undefined && state.isLed)
    throw new FatalError(
      'An instance runs on this database, and may have announced times since the restore. Give --backup with a time ' +
        'before the backup was begun, such as --backup 2026-11-20T10:00:00Z.',
    );
  const after = backup ?? (await latestFence(connection)) ?? new Date(0);
  if (after >= state.clock)
    throw new FatalError(
      `The latest time that the database has announced, ${after.toISOString()}, is not past yet. Give --backup with a time ` +
        'before the backup was begun, such as --backup 2026-11-20T10:00:00Z.',
    );
  const added = { after: literal(after), until: CLOCK };
  const restores = { $slice: [{ $concatArrays: [{ $ifNull: ['$restores', []] }, [added]] }, -MOST] };
  const stored = await leases.findOneAndUpdate(
    { _id: WATCHER },
    [{ $set: { restores } }] as mongo.Document[],
    {
      returnDocument: 'after',
    },
  );
  return stored!.restores!.at(-1)!;
}

/** The latest time that the database has announced for any application and kind. */
async function latestFence(connection: Connection): Promise<Date | undefined> {
  const found = await connection
    .collection<Mark>(MARKS)
    .find({ fence: { $type: 'date' } }, { projection: { fence: 1 }, sort: { fence: -1 }, limit: 1 })
    .toArray();
  return found[0]?.fence;
}
