import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import mongoose, { type Connection } from 'mongoose';
import type { Counter, Gauge } from 'prom-client';
import { Metrics } from '../../platform/observability/index.js';
import { WATCHER } from '../protocol/index.js';
import { WATCH_TOTALS, type WatchTotals } from './collections.schema.js';

const { mongo } = mongoose;

/** Values of metrics by the path under which the totals keep them, such as `restamps.late`. */
type Values = Record<string, number>;

/** Adds the counts of this instance to the totals of all leaders, for `admin status`. */
@Injectable()
export class Totals {
  private counted: Values = {};
  private ignored: Values = {};
  private storing: Promise<void> = Promise.resolve();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Writes only if a count has changed, after a write in progress. Counts that could not be written are added the next
   * time.
   */
  store(): Promise<void> {
    this.storing = this.storing.catch(() => undefined).then(() => this.write());
    return this.storing;
  }

  private async write(): Promise<void> {
    const { restamps, tombstones, passes, repaired, ignoredRecords } = this.metrics;
    const counted = await valuesOf({ restamps, tombstones, passes, repaired });
    const ignored = await valuesOf({ ignored: ignoredRecords });
    const more = increases(this.counted, counted);
    if (Object.keys(more).length > 0 || isNews(this.ignored, ignored))
      await this.connection
        .collection<WatchTotals>(WATCH_TOTALS)
        .updateOne({ _id: WATCHER }, { $inc: more, $set: ignored }, { upsert: true })
        .catch(assertNotApplied);
    this.counted = counted;
    this.ignored = ignored;
  }
}

/** Ignores that the majority has not confirmed a write in time: it is applied, and must not be repeated. */
function assertNotApplied(error: unknown): void {
  if (!(error instanceof mongo.MongoWriteConcernError)) throw error;
}

async function valuesOf(metrics: Record<string, Counter | Gauge>): Promise<Values> {
  const found = Object.entries(metrics).map(async ([name, metric]) => {
    const { values } = await metric.get();
    return values.map(({ labels, value }) => [[name, ...Object.values(labels)].join('.'), value] as const);
  });
  return Object.fromEntries((await Promise.all(found)).flat());
}

function increases(before: Values, now: Values): Values {
  const differences = Object.entries(now).map(
    ([path, value]) => [path, value - (before[path] ?? 0)] as const,
  );
  return Object.fromEntries(differences.filter(([, difference]) => difference > 0));
}

/** An instance that does not lead has no counts of ignored records, and overwrites nothing. */
function isNews(before: Values, now: Values): boolean {
  return Object.entries(now).some(([path, value]) => value !== before[path]);
}
