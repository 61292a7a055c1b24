import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** What the service tells Prometheus. One object for each application, so that two in one process do not mix. */
export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Histogram({
    name: 'tidemark_http_request_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [this.registry],
  });

  readonly ignoredRecords = new Gauge({
    name: 'tidemark_ignored_records',
    help: 'Records that can never be delivered: _id is no ObjectId, or organizationid or appid is no string.',
    labelNames: ['kind'],
    registers: [this.registry],
  });

  readonly watcherLeads = new Gauge({
    name: 'tidemark_watcher_leads',
    help: '1 while this instance leads the watcher.',
    registers: [this.registry],
  });

  readonly watcherEvents = new Counter({
    name: 'tidemark_watcher_events_total',
    help: 'Events of the change stream that this instance has worked through.',
    registers: [this.registry],
  });

  readonly mended = new Counter({
    name: 'tidemark_mended_total',
    help: 'What the watcher mended in records that other programs wrote.',
    labelNames: ['what'],
    registers: [this.registry],
  });

  readonly tombstones = new Counter({
    name: 'tidemark_tombstones_total',
    help: 'Hard deletes that this instance wrote into the ledger.',
    registers: [this.registry],
  });

  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }
}
