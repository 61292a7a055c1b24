import type { Connection } from 'mongoose';
import type { Metrics } from '../observability/index.js';
import {
  type CountsByWord,
  readWatcherStatus,
  shareDone,
  WATCH_TOTALS,
  WATCHER,
  type WatchTotals,
} from '../replication/progress/index.js';
import { countSetAside } from '../replication/quarantine/index.js';

/** How the service does at a moment, to be asked every few seconds. What is not known is null. */
export interface Figures {
  at: Date;
  /** The instance that answers, by its host and a name of this start: what it counts begins anew with it. */
  instance: string;
  /** Of this instance since its start: requests that it has answered, those of them with a 5xx, and items of feeds. */
  requests: number;
  failures: number;
  items: number;
  /** Of all instances since the beginning. */
  restamps: number;
  tombstones: number;
  /** How far the watcher is behind, and how long it may stay away, in seconds. */
  lagSeconds: number | null;
  oplogWindowSeconds: number | null;
  quarantined: number | null;
  /** Of the pass under way, 0 to 1; null where there is none. */
  passDone: number | null;
}

/** Reads the figures: three small documents, and what the instance has counted. */
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
  const answered = requests.values.filter(({ metricName }) => metricName?.endsWith('_count'));
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
