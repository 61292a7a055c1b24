import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { Metrics } from '../observability/index.js';
import { greatestLag, shareDone, UnwatchedFeeds } from '../replication/progress/index.js';
import { Looks } from './looks.js';

/** A scrape does not wait longer for the database (milliseconds). */
const LONGEST_MS = 2000;

/** The gauges that are read when they are asked for; of those about what is in the database every instance tells the same. */
@Injectable()
export class Gauges {
  constructor(
    private readonly looks: Looks,
    private readonly metrics: Metrics,
    private readonly unwatched: UnwatchedFeeds,
  ) {}

  /** Reads them anew. Those that cannot be read are absent; it never fails. */
  async refresh(): Promise<void> {
    const tooLate = wait(LONGEST_MS, undefined, { ref: false });
    const inTime = <T>(look: Promise<T>) => Promise.race([look, tooLate]).catch(() => undefined);
    const [standing, counts, pending] = await Promise.all([
      inTime(this.looks.watcherStatus()),
      inTime(this.looks.openRepairs()),
      inTime(this.looks.pendingServices()),
    ]);
    this.metrics.feedsUnwatched.set(this.unwatched.seconds);
    show(this.metrics.watcherLag, standing?.lagSeconds);
    show(this.metrics.applicationsAside, standing?.aside.length);
    show(this.metrics.asideLag, standing && greatestLag(standing.aside));
    show(this.metrics.editedServices, pending?.services);
    show(this.metrics.editPending, pending?.longestSeconds);
    show(this.metrics.editFailures, pending?.failures);
    show(this.metrics.clockBehind, standing?.clockBehindSeconds);
    show(this.metrics.oplogWindow, standing?.oplogWindowSeconds);
    show(this.metrics.oplogUsed, standing?.oplogUsedRatio);
    show(this.metrics.oplogPredictedWindow, standing?.oplogPredictedWindowSeconds);
    show(this.metrics.emailDuplicates, counts?.[0]);
    show(this.metrics.quarantined, counts?.[1]);
    show(this.metrics.passProgress, standing?.pass && shareDone(standing.pass));
  }
}

function show(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}
