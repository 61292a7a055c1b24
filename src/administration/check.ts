import type { Connection } from 'mongoose';
import { capitalized, duration, textOf } from '../platform/common/index.js';
import { recordCollections } from '../kinds/index.js';
import {
  buildsIn,
  FUTURE_TOLERANCE_MS,
  indexName,
  inTheWaySentence,
  isUnauthorized,
  listedIndexes,
  type MissingIndex,
  missingRights,
  modelsOf,
  NO_HISTORY,
  rightSentence,
  unfitness,
} from '../platform/database/plain.js';
import { holdsWatched, readWatcherStatus, type WatcherStatus } from '../replication/store/plain.js';
import { listKinds } from './listed-kinds.js';

/** If the watcher lags by more than this, the check gives a warning (seconds). */
const USUAL_LAG_S = 30;
/**
 * The least clock lag that is reported (seconds). Smaller differences between the servers of a replica set are normal.
 */
const MUCH_BEHIND_S = 2;
/** The number of round trips with which the difference between the clocks is measured. */
const ROUND_TRIPS = 5;

export type CheckState = 'ok' | 'warning' | 'failed';

/** What was found about one subject. Despite a warning, the service keeps its promises. */
export interface CheckedPart {
  check: 'settings' | 'database' | 'roles' | 'indexes' | 'clocks' | 'watcher' | 'kinds';
  state: CheckState;
  text: string;
  /** A text of whole sentences for each thing that is wrong; empty if `text` says everything. */
  details: string[];
}

type Found = Omit<CheckedPart, 'check'>;
type Check = (connection: Connection, watched: Promise<Watched>) => Promise<Found>;

/** `isNew`: no instance has ever led on this database. */
interface Watched {
  status: WatcherStatus;
  isNew: boolean;
}

/**
 * Checks a database and the service on it. The results are ordered by cause: a failed check may be the consequence of an
 * earlier one. Changes nothing.
 */
export async function checkAll(connection: Connection): Promise<CheckedPart[]> {
  const watched = readWatcher(connection);
  const checks: [CheckedPart['check'], Check][] = [
    ['database', database],
    ['roles', roles],
    ['indexes', indexes],
    ['clocks', clocks],
    ['watcher', watcher],
    ['kinds', kinds],
  ];
  return Promise.all(
    checks.map(async ([check, run]) => ({
      check,
      ...(await run(connection, watched).catch(failedIfUnauthorized)),
    })),
  );
}

const ok = (text: string): Found => ({ state: 'ok', text, details: [] });
const warning = (text: string, details: string[] = []): Found => ({ state: 'warning', text, details });
const failed = (text: string, details: string[] = []): Found => ({ state: 'failed', text, details });

/** A missing right fails the check. Other errors, such as those of the connection, are left to the caller. */
function failedIfUnauthorized(error: unknown): Found {
  if (isUnauthorized(error)) return failed('the user of MONGODB_URI lacks a right to read this: see Roles');
  throw error;
}

async function database(connection: Connection): Promise<Found> {
  const db = connection.getClient().db(connection.name);
  const [hello, build] = await Promise.all([db.admin().command({ hello: 1 }), db.admin().buildInfo()]);
  const set = hello['setName'] as string | undefined;
  const place = set === undefined ? 'behind mongos' : `replica set ${set}`;
  const text = `${connection.name} answers, MongoDB ${String(build['version'])}, ${place}`;
  const flaw =
    (await unfitness(db, modelsOf(connection))) ??
    ((await holdsWatched(connection)) ? undefined : NO_HISTORY);
  return flaw === undefined ? ok(text) : failed(text, [`${flaw}.`]);
}

async function roles(connection: Connection): Promise<Found> {
  const missing = await missingRights(connection, recordCollections());
  if (missing === undefined) {
    // The connection has no login. A server that requires authentication refuses this command.
    await connection.getClient().db(connection.name).listCollections({}, { nameOnly: true }).toArray();
    return warning('this database does not require authentication');
  }
  if (missing.length === 0) return ok('the user of MONGODB_URI has every required privilege');
  const details = missing.map((one) => `${rightSentence(one)}.`);
  const text = `${missing.length === 1 ? 'an action is' : `${missing.length} actions are`} missing (docs/roles.js lists all)`;
  return missing.some(({ isNeeded }) => isNeeded) ? failed(text, details) : warning(text, details);
}

async function indexes(connection: Connection, watched: Promise<Watched>): Promise<Found> {
  const db = connection.getClient().db(connection.name);
  const [listed, builds, { isNew }] = await Promise.all([listedIndexes(connection), buildsIn(db), watched]);
  const missing = listed.flatMap((one) => one.missing);
  if (missing.length === 0) return ok('all exist');
  const isWaitedFor = (one: MissingIndex) =>
    one.inTheWay === undefined && (isNew || builds.has(indexName(one)));
  const details = missing
    .filter((one) => !isNew || !isWaitedFor(one))
    .map((one) => `${indexName(one)} ${fateOf(one, builds)}.`);
  if (missing.every(isWaitedFor))
    return warning(
      isNew ? `the first start of the service creates all ${missing.length}` : 'being built',
      details,
    );
  return failed(missing.length === 1 ? 'one cannot be used' : `${missing.length} cannot be used`, details);
}

function fateOf(index: MissingIndex, builds: ReadonlySet<string>): string {
  if (builds.has(indexName(index))) return 'is being built';
  if (index.hidden !== undefined) return 'is hidden: the leader unhides it within 20 s';
  return `is missing: ${inTheWaySentence(index) ?? 'the leader creates it within 20 s'}`;
}

async function clocks(connection: Connection, watched: Promise<Watched>): Promise<Found> {
  const [ahead, { status }] = await Promise.all([aheadOf(connection), watched]);
  const details = clockFaults(ahead, status.clockBehindSeconds);
  if (details.length > 0) return warning('they differ', details);
  return ok(`this machine and the database differ by less than ${duration(FUTURE_TOLERANCE_MS / 1000)}`);
}

/**
 * Describes each fault of the clocks in a sentence. This machine's clock is ahead of the server's by `ahead.least` to
 * `ahead.most` milliseconds; the duration of a round trip does not count as a difference.
 */
export function clockFaults(ahead: { least: number; most: number }, behindSeconds = 0): string[] {
  const apart = Math.max(ahead.least, -ahead.most);
  const faults = [];
  if (apart > FUTURE_TOLERANCE_MS)
    faults.push(
      `This machine's clock is ${duration(apart / 1000)} ${ahead.least > 0 ? 'ahead of' : 'behind'} the database's: ` +
        'credentials and sessions expire too early or too late, and programs on this machine that stamp records by its clock write wrong stamps.',
    );
  const setBack = clockBehindText(behindSeconds);
  if (setBack !== undefined) faults.push(`${capitalized(setBack)}.`);
  return faults;
}

/** Describes the lag of the database server's clock behind the cluster time; undefined if the lag is normal. */
export function clockBehindText(seconds = 0): string | undefined {
  if (seconds < MUCH_BEHIND_S) return undefined;
  return `the database server's clock is ${duration(seconds)} behind the cluster time: it was set back, and stamps stay ahead of it until it has caught up`;
}

/** By how much this machine's clock is ahead of the server's, at least and at most (milliseconds). */
async function aheadOf(connection: Connection): Promise<{ least: number; most: number }> {
  let bounds = { least: -Infinity, most: Infinity };
  for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
    const sent = Date.now();
    const hello = await connection.getClient().db('admin').command({ hello: 1 });
    const server = (hello['localTime'] as Date).getTime();
    bounds = {
      least: Math.max(bounds.least, sent - server),
      most: Math.min(bounds.most, Date.now() - server),
    };
  }
  return bounds;
}

async function watcher(_connection: Connection, watched: Promise<Watched>): Promise<Found> {
  const { status, isNew } = await watched;
  return isNew ? warning('no instance has led yet: start the service') : judgeWatcher(status);
}

export function judgeWatcher(
  status: Pick<WatcherStatus, 'leader' | 'lagSeconds' | 'pass' | 'isPreparing'>,
): Found {
  const { leader, lagSeconds, pass } = status;
  const lag = lagSeconds === undefined ? '' : `, ${duration(lagSeconds)} behind`;
  if (leader === undefined) return failed(`no instance leads${lag}: is the service running?`);
  const text = `${leader} leads${lag}`;
  if (status.isPreparing)
    return warning(text, [
      `${capitalized(pass === undefined ? 'a pass is about to begin, or has ended and the watcher is catching up' : `a pass runs: ${pass.reason}`)}.`,
    ]);
  return (lagSeconds ?? 0) > USUAL_LAG_S ? warning(text) : ok(text);
}

async function kinds(connection: Connection): Promise<Found> {
  const all = await listKinds(connection.getClient().db(connection.name));
  const faults = all.flatMap(({ name, state, fault }) => {
    if (fault === undefined) return [];
    return [
      state === 'preparing'
        ? `The pass over the records of the kind ${name} cannot begin: ${fault}`
        : `The document of the kind "${textOf(name)}" cannot be used: ${fault}`,
    ];
  });
  const preparing = all.filter(({ state }) => state === 'preparing').map(({ name }) => name);
  if (faults.length > 0)
    return failed(`${faults.length === 1 ? 'one kind is' : `${faults.length} kinds are`} not served`, faults);
  if (preparing.length > 0)
    return warning(`the pass over the records has not ended: ${preparing.join(', ')}`);
  return ok(all.map(({ name }) => name).join(', '));
}

async function readWatcher(connection: Connection): Promise<Watched> {
  const status = await readWatcherStatus(connection);
  return { status, isNew: status.leaseExpires === undefined };
}
