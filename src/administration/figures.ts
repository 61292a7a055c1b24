import type { Connection } from 'mongoose';
import type { Metrics } from '../platform/observability/index.js';
import { shareDone, WATCHER } from '../replication/protocol/index.js';
import {
  type CountsByWord,
  countSetAside,
  readWatcherStatus,
  WATCH_TOTALS,
  type WatchTotals,
} from '../replication/store/plain.js';

/** The current figures of the service, for polling every few seconds. Unknown values are null. */
export interface Figures {
  at: Date;
  /** The instance that answers: its host, and a name that each start creates. Its counters restart with the name. */
  instance: string;
  /** Of this instance since its start: answered requests, answers with a 5xx, and delivered feed items. */
  requests: number;
  failures: number;
  items: number;
  /** Of all instances since the first start. */
  restamps: number;
  tombstones: number;
  /** The lag of the watcher, and how long it may be interrupted before it loses events, in seconds. */
  lagSeconds: number | null;
  oplogWindowSeconds: number | null;
  quarantined: number | null;
  /** Progress of the running pass, from 0 to 1; null if none is running. */
  passDone: number | null;
}

/**
 * Reads the figures from two small documents, the server's data about its oplog, the number of quarantine entries, and
 * the instance's counters.
 */
export async function readFigures(
  connection: Connection,
  metrics: Metrics,
  instance: string,
): Promise<Figures> {
  const totals = connection.db!.collection<WatchTotals>(WATCH_TOTALS);
  const [status, total, quarantined, requests, items] = await Promise.all([
    readWatcherStatus(connection),
    totals.findOne({ _id: WATCHER }),
    countSetAside(connection).catch(() => null),
    metrics.requests.get(),
    metrics.items.get(),
  ]);
  const answered = requests.values.filter(
    ({ metricName, labels }) => metricName?.endsWith('_count') && labels.status !== 'none',
  );
  const failed = answered.filter(({ labels }) => Number(labels.status) >= 500);
  return {
    at: new Date(),
    instance,
    ...{ requests: sum(answered), failures: sum(failed), items: sum(items.values) },
    ...{ restamps: sumOfWords(total?.restamps), tombstones: total?.tombstones ?? 0 },
    lagSeconds: status.lagSeconds ?? null,
    oplogWindowSeconds: status.oplogWindowSeconds ?? null,
    quarantined,
    passDone: status.pass === undefined ? null : shareDone(status.pass),
  };
}

function sum(counts: { value: number }[]): number {
  return counts.reduce((total, { value }) => total + value, 0);
}

function sumOfWords(counts: CountsByWord = {}): number {
  return Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0);
}
