import { capitalized, FatalError, count } from '../../../platform/common/index.js';
import { ConfigError, databaseIn, type Settings } from '../../../platform/config/plain.js';
import { isDatabaseAway, refusalAtStart, troubleOfCommand } from '../../../platform/database/plain.js';
import {
  checkAll,
  type CheckState,
  type CheckedPart,
  assertApplication,
  listApplications,
  recordAction,
} from '../../plain.js';
import type { CommandContext, Run } from '../command.js';
import type { check, restored, upgradeFinish } from '../operation-descriptions.js';
import { type Tone } from '../layout.js';
import { described, type SaidLine, counted } from '../table.js';
import { RestampBook } from '../../../replication/watcher/plain.js';
import type { resync } from '../descriptions.js';
import { scopeOf, dateOf } from '../input.js';
import { NotStampedCollector, notStampedText } from '../not-stamped.js';
import { resyncRecords, resyncSize, type Between, type Stamped } from '../restamping.js';
import { changeContextOf } from '../session.js';
import { noted, noteRecords } from './records.js';
import type { mongo } from 'mongoose';
import { kindNames, pluralOfKind } from '../../../kinds/index.js';
import { noteRestore, finishUpgrade, readFormat, STORAGE_FORMATS } from '../../../replication/store/plain.js';

const TONES: Record<CheckState, Tone> = { ok: 'green', warning: 'yellow', failed: 'red' };

export const runCheck: Run<typeof check> = async (context) => {
  const checks = await findings(context);
  const failed = checks.filter(({ state }) => state === 'failed').map(({ check }) => check);
  return {
    text: described(checks.flatMap(linesOf)),
    json: { isOk: failed.length === 0, checks },
    failure: failed.length === 0 ? undefined : `Failed: ${failed.join(', ')}.`,
  };
};

/** Skips all further checks if the settings are not valid, or if the database does not answer or cannot be used. */
async function findings(context: CommandContext): Promise<CheckedPart[]> {
  let settings: Settings;
  try {
    ({ settings } = context);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ check: 'settings', state: 'failed', text: error.message, details: [] }];
  }
  const { mongodbUri, dataDir } = settings;
  const text = `all can be read; the database is ${mongodbUri === undefined ? `the embedded one of ${dataDir}` : 'that of MONGODB_URI'}`;
  const read: CheckedPart = { check: 'settings', state: 'ok', text, details: [] };
  try {
    return [read, ...(await checkAll(await context.connected()))];
  } catch (error) {
    return [read, { check: 'database', state: 'failed', text: wordsOf(error, mongodbUri), details: [] }];
  }
}

/** Rethrows errors that are caused by neither the database nor its address. */
function wordsOf(error: unknown, uri: string | undefined): string {
  const refusal = uri === undefined ? error : refusalAtStart(error, { uri, database: databaseIn(uri) });
  if (refusal instanceof FatalError) return refusal.message;
  if (isDatabaseAway(refusal)) return `it does not answer: ${troubleOfCommand(refusal as Error)}`;
  throw error;
}

function linesOf({ check, state, text, details }: CheckedPart): SaidLine[] {
  return [
    [capitalized(check), `${state}: ${text}`, TONES[state]],
    ...details.map((detail): SaidLine => ['', detail]),
  ];
}

export const runResync: Run<typeof resync> = async (context, values) => {
  const scope = scopeOf(values);
  const changeContext = changeContextOf(context, await context.prepared());
  await assertApplication(changeContext.db, scope.tenant);
  const size = await resyncSize(changeContext.db, scope);
  const stop = context.terminal.interruptible();
  const progress = context.progress(size, 'records');
  let reached = 0;
  const onProgress = (done: number) => progress.at((reached = done), done);
  const book = new RestampBook(context.settings.restampHistoryDays);
  const notStamped = new NotStampedCollector(changeContext.db);
  const work = resyncRecords(changeContext.db, scope, { stop, onProgress, book, notStamped }).finally(() =>
    progress.end(),
  );
  const stamped = await noted(work, (done) =>
    noteRecords(changeContext, scope, {
      action: 'record.resync',
      target: `${pluralOfKind(scope.kind)}: ${count(done ? done.records + done.tombstones : reached)} records and hard deletes`,
    }),
  );
  const { records, tombstones } = stamped;
  const summary = { ...stamped, ...notStamped.summary };
  return {
    text: `${counted(records, 'record')} and ${counted(tombstones, 'hard delete')} stamped anew.`,
    json: summary,
    failure: failureText(stop, 'Run the command again.', notStampedText(summary)),
  };
};

/**
 * Records that the database was restored (contract §3, `source-restored`), and re-stamps what has a stamp between the
 * backup and this command.
 */
export const runRestored: Run<typeof restored> = async (context, { backup }) => {
  const before = backup === undefined ? undefined : dateOf('backup', backup);
  const connection = await context.prepared();
  const restore = await noteRestore(connection, before);
  const changeContext = changeContextOf(context, connection);
  const { db } = changeContext;
  const [after, until] = [restore.after.toISOString(), restore.until.toISOString()];
  const target = `times after ${after} and before ${until}`;
  await recordAction(changeContext, { action: 'database.restored', target });
  const notStamped = new NotStampedCollector(db);
  const stop = context.terminal.interruptible();
  const stamped = await stampGap(db, restore, { context, notStamped, stop });
  const summary = { ...stamped, ...notStamped.summary };
  return {
    text:
      `Requests that continue from a time after ${after} and before ${until} are answered 410 source-restored: their ` +
      `consumers start over. ${counted(stamped.records, 'record')} and ${counted(stamped.tombstones, 'hard delete')} ` +
      'with a stamp in between were stamped anew.',
    json: { ...restore, ...summary },
    // Without --backup, the next run would take the latest announced time, which may be one that an instance has announced
    // since the restore.
    failure: failureText(stop, `Run the command again, with --backup ${after}.`, notStampedText(summary)),
  };
};

/** The message for stderr; undefined if everything was stamped. */
function failureText(stop: AbortSignal, advice: string, notStamped: string | undefined): string | undefined {
  const interrupted = `Interrupted: some records or hard deletes are not stamped yet. ${advice}`;
  if (!stop.aborted) return notStamped;
  return notStamped === undefined ? interrupted : `${interrupted} ${notStamped}`;
}

/**
 * Re-stamps everything whose stamp lies after the backup and before this command. The replaced database may have
 * announced these times, so a request that continues from one of them is answered 410. If `max` returned one of them,
 * each consumer that stored it would have to start over, again and again.
 */
async function stampGap(
  db: mongo.Db,
  between: Between,
  {
    context,
    notStamped,
    stop,
  }: { context: CommandContext; notStamped: NotStampedCollector; stop: AbortSignal },
): Promise<Stamped> {
  const book = new RestampBook(context.settings.restampHistoryDays);
  const sum = { records: 0, tombstones: 0 };
  for (const { organizationid, appid } of await listApplications(db)) {
    if (typeof organizationid !== 'string' || typeof appid !== 'string') continue;
    for (const kind of kindNames()) {
      const scope = { tenant: { organizationid, appid }, kind };
      const ways = { between, stop, onProgress: () => undefined, book, notStamped };
      const done = await resyncRecords(db, scope, ways);
      sum.records += done.records;
      sum.tombstones += done.tombstones;
    }
  }
  return sum;
}

const QUESTION = 'Are all instances of older versions stopped for good?';

/** Puts the newest storage format of this version in force (docs/upgrading.md). */
export const runFinish: Run<typeof upgradeFinish> = async (context, { yes }) => {
  const connection = await context.connected();
  const { newest } = STORAGE_FORMATS;
  const before = await readFormat(connection);
  if (before === newest)
    return { text: `Storage format ${newest} is in force already.`, json: { before, format: newest } };
  if (!yes && !(await context.confirm(QUESTION)))
    return {
      text: 'Nothing is changed.',
      json: { before, format: before },
      failure: 'It was not confirmed.',
    };
  await finishUpgrade(connection);
  await recordAction(changeContextOf(context, connection), {
    action: 'upgrade.finish',
    target: `storage format ${newest}`,
  });
  return {
    text: `Storage format ${newest} is in force (${before} before).`,
    json: { before, format: newest },
  };
};
