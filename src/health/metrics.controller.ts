import { Controller, Get, Header, Inject, Injectable, Res, type OnApplicationShutdown } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Gauge } from 'prom-client';
import { Public } from '../auth/index.js';
import { settledWithin } from '../platform/common/index.js';
import { SETTINGS, type Settings } from '../platform/config/index.js';
import { CONSUMER_STATES, type ConsumerLag } from '../replication/feed/plain.js';
import { Metrics } from '../platform/observability/index.js';
import { greatestLag, UnwatchedFeeds } from '../replication/store/index.js';
import { shareDone } from '../replication/protocol/index.js';
import { HealthReads } from './readiness.js';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Maximum time for which a scrape waits for the database (milliseconds). */
const LONGEST_MS = 2000;

/** The gauges that are read on each scrape. Gauges about the content of the database are identical on every instance. */
@Injectable()
export class Gauges {
  constructor(
    private readonly reads: HealthReads,
    private readonly metrics: Metrics,
    private readonly unwatched: UnwatchedFeeds,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Reads the gauges again. A gauge that cannot be read is removed; nothing is thrown. */
  async refresh(): Promise<void> {
    const inTime = <T extends object>(read: Promise<T>) =>
      settledWithin(read, LONGEST_MS).catch(() => undefined);
    const [standing, counts, pending, consumers] = await Promise.all([
      inTime(this.reads.watcherStatus()),
      inTime(this.reads.openRepairs()),
      inTime(this.reads.pendingServices()),
      inTime(this.reads.consumerLags()),
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
    this.showConsumers(consumers);
  }

  /**
   * Names of users and applications are shown on METRICS_PORT only: `PORT` serves metrics to everyone. Only the
   * consumers that are furthest behind are named, because each name adds a time series.
   */
  private showConsumers(consumers: ConsumerLag[] | undefined): void {
    const { consumers: counts, consumersLag, consumerLag } = this.metrics;
    counts.reset();
    consumerLag.reset();
    show(consumersLag, consumers && Math.max(0, ...consumers.map(({ behindSeconds }) => behindSeconds ?? 0)));
    if (consumers === undefined) return;
    for (const state of CONSUMER_STATES)
      counts.set({ state }, consumers.filter((one) => one.state === state).length);
    if (this.settings.metricsPort === undefined) return;
    for (const { behindSeconds, state, ...names } of furthestBehind(consumers))
      consumerLag.set({ ...names, state }, behindSeconds);
  }
}

/** Maximum number of consumers that are named. */
const MOST_NAMED = 50;

function furthestBehind(consumers: ConsumerLag[]) {
  return consumers
    .flatMap(({ behindSeconds, ...one }) => (behindSeconds === null ? [] : [{ ...one, behindSeconds }]))
    .sort((one, other) => other.behindSeconds - one.behindSeconds)
    .slice(0, MOST_NAMED);
}

function show(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

/** Scrapes within this time after a scrape receive the same text (milliseconds). */
const KEPT_MS = 1000;

/** Metrics for Prometheus (contract §5), without credentials. Concurrent scrapes share one text. */
@ApiTags('operation')
@Public()
@Controller('metrics')
export class MetricsController {
  private text: Promise<string> | undefined;

  constructor(
    private readonly gauges: Gauges,
    private readonly metrics: Metrics,
  ) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Metrics for Prometheus' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ description: 'Prometheus text format', schema: { type: 'string' } })
  async getMetrics(@Res() response: Response): Promise<void> {
    this.text ??= this.made();
    response.type(this.metrics.registry.contentType).send(await this.text);
  }

  private async made(): Promise<string> {
    const forget = () => (this.text = undefined);
    try {
      await this.gauges.refresh();
      return await this.metrics.registry.metrics();
    } finally {
      setTimeout(forget, KEPT_MS).unref();
    }
  }
}

/** Time limit for requests that are still running when everything else has stopped (milliseconds). */
const LAST_MS = 1000;

/**
 * The separate port for health checks and metrics (`METRICS_PORT`). It outlives the main port: while a stop waits for
 * running requests, probes see an instance that is alive and not ready.
 */
@Injectable()
export class MetricsPort implements OnApplicationShutdown {
  private server: Server | undefined;

  /** Sets the server for this port, which does not listen yet. Not called without METRICS_PORT. */
  use(server: Server): void {
    this.server = server;
  }

  /** Opens the port, and returns its number. */
  async listen(port: number, host: string): Promise<number> {
    if (this.server === undefined) throw new Error('There is no server for METRICS_PORT.');
    await once(this.server.listen(port, host), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async onApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (server?.listening !== true) return;
    const tooLate = setTimeout(() => server.closeAllConnections(), LAST_MS);
    await new Promise((resolve) => server.close(resolve));
    clearTimeout(tooLate);
  }
}
