import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { thisBuild } from '../config/pure.js';

/**
 * Sampling interval of the event loop monitor (milliseconds). Each sample wakes the process: at the usual 10 ms,
 * samples would be the largest cost of an idle service.
 */
const EVENT_LOOP_SAMPLE_MS = 100;

/**
 * Prometheus treats a name that ends in `_total` as a counter, but these are gauges. The metric without this suffix
 * has the same values by type.
 */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/**
 * The metrics of the service. Each instance of the service has its own registry, so that two instances in one process
 * do not share series.
 */
export class Metrics {
  readonly registry = new Registry();

  private readonly buildInfo = new Gauge({
    name: 'tidemark_build_info',
    help: 'Always 1; the labels name the version, the commit that it was built from, and the version of Node.',
    labelNames: ['version', 'commit', 'node'],
    registers: [this.registry],
  });

  readonly requests = new Histogram({
    name: 'tidemark_http_request_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [this.registry],
  });

  readonly items = new Counter({
    name: 'tidemark_items_total',
    help: 'Items that this instance has sent, by feed.',
    labelNames: ['feed'],
    registers: [this.registry],
  });

  readonly ignoredRecords = new Gauge({
    name: 'tidemark_ignored_records',
    help:
      'Records that are not delivered: _id is not an ObjectId, organizationid or appid is not a string, or id is a number under ' +
      'which another record is known.',
    labelNames: ['kind'],
    registers: [this.registry],
  });

  readonly servicesBeyondLimits = new Gauge({
    name: 'tidemark_services_beyond_limits',
    help: 'Services that are not served, since they are beyond the limits of their application, in number or total size; reported by the leader.',
    registers: [this.registry],
  });

  readonly watcherLeads = new Gauge({
    name: 'tidemark_watcher_leads',
    help: '1 while this instance leads the watcher.',
    registers: [this.registry],
  });

  readonly watcherAbandoned = new Counter({
    name: 'tidemark_watcher_abandoned_total',
    help: 'Terms of this instance that were ended because their work hung.',
    registers: [this.registry],
  });

  readonly watcherLag = new Gauge({
    name: 'tidemark_watcher_lag_seconds',
    help: 'How far the watcher is behind the database; absent while unknown.',
    registers: [this.registry],
  });

  readonly applicationsAside = new Gauge({
    name: 'tidemark_applications_aside',
    help: 'Applications that the watcher processes separately from all others; absent while unknown.',
    registers: [this.registry],
  });

  readonly asideLag = new Gauge({
    name: 'tidemark_aside_lag_seconds',
    help: 'Age of the last processed moment of the slowest application that the watcher processes separately, or age of the pass over it; 0 without one; absent while unknown.',
    registers: [this.registry],
  });

  readonly editedServices = new Gauge({
    name: 'tidemark_edited_services',
    help: 'Services with an edit for which records are still to be stamped; absent while unknown.',
    registers: [this.registry],
  });

  readonly editPending = new Gauge({
    name: 'tidemark_edit_pending_seconds',
    help: 'Time since the oldest edit of a service for which records are still to be stamped; 0 without one; absent while unknown.',
    registers: [this.registry],
  });

  readonly editFailures = new Gauge({
    name: 'tidemark_edit_failures',
    help: 'Failed attempts to stamp records for an edited filter, for the service with the most; 0 without one; absent while unknown.',
    registers: [this.registry],
  });

  readonly clockBehind = new Gauge({
    name: 'tidemark_clock_behind_seconds',
    help: "How far the database server's clock is behind the last cluster time; absent while unknown.",
    registers: [this.registry],
  });

  readonly feedsUnwatched = new Gauge({
    name: 'tidemark_feeds_unwatched_seconds',
    help: 'How long this instance has answered every feed request with 503 not-watched; 0 once one is served.',
    registers: [this.registry],
  });

  readonly consumers = new Gauge({
    name: 'tidemark_consumers',
    help: 'Consumers that have called within the last half year, at most 1,000, by state.',
    labelNames: ['state'],
    registers: [this.registry],
  });

  readonly consumersLag = new Gauge({
    name: 'tidemark_consumers_lag_seconds',
    help: 'Lag of the consumer with the greatest lag behind the newest change; 0 without consumers; absent while unknown.',
    registers: [this.registry],
  });

  readonly consumerLag = new Gauge({
    name: 'tidemark_consumer_lag_seconds',
    help: 'Lag behind the newest change of each of the 50 consumers with the greatest lag; on METRICS_PORT only.',
    labelNames: ['organizationid', 'appid', 'kind', 'service', 'username', 'state'],
    registers: [this.registry],
  });

  readonly oplogWindow = new Gauge({
    name: 'tidemark_oplog_window_seconds',
    help: 'How long the watcher can be down before the oplog no longer contains its position; absent without the action serverStatus on the cluster.',
    registers: [this.registry],
  });

  readonly oplogUsed = new Gauge({
    name: 'tidemark_oplog_used_ratio',
    help: 'Used share of the oplog, 0 to slightly over 1; an oplog that is not full drops no entries; absent without the actions serverStatus on the cluster and collStats on local.oplog.rs.',
    registers: [this.registry],
  });

  readonly oplogPredictedWindow = new Gauge({
    name: 'tidemark_oplog_predicted_window_seconds',
    help: 'How long the oplog retains an entry, at the write rate so far; absent without the actions serverStatus on the cluster and collStats on local.oplog.rs.',
    registers: [this.registry],
  });

  readonly emailDuplicates = new Gauge({
    name: 'tidemark_email_duplicates',
    help: 'Members whose e-mail an earlier member of the application already has.',
    registers: [this.registry],
  });

  readonly quarantined = new Gauge({
    name: 'tidemark_quarantined',
    help: 'Records, hard deletes and services in quarantine: they could not be processed or written, and are retried.',
    registers: [this.registry],
  });

  readonly refusedWrites = new Counter({
    name: 'tidemark_refused_writes_total',
    help: 'Stamps and repairs that MongoDB refused this instance, by type; those records are in quarantine.',
    labelNames: ['what'],
    registers: [this.registry],
  });

  readonly tooLarge = new Counter({
    name: 'tidemark_too_large_total',
    help: 'Records whose e-mail or channels are too large for the service to learn, by field.',
    labelNames: ['what'],
    registers: [this.registry],
  });

  readonly feedSteps = new Counter({
    name: 'tidemark_feed_steps_total',
    help: 'Feed queries for items, by query plan.',
    labelNames: ['plan'],
    registers: [this.registry],
  });

  readonly pageBytes = new Gauge({
    name: 'tidemark_page_bytes_in_flight',
    help: 'Bytes held by pages: database replies, and text not yet written to a connection.',
    registers: [this.registry],
  });

  readonly eventSubscribers = new Gauge({
    name: 'tidemark_event_subscribers',
    help: 'Streams of events that this instance has open.',
    registers: [this.registry],
  });

  readonly watcherEvents = new Counter({
    name: 'tidemark_watcher_events_total',
    help: 'Change stream events that this instance has processed.',
    registers: [this.registry],
  });

  readonly repaired = new Counter({
    name: 'tidemark_repaired_total',
    help: 'What the watcher repaired in records that other programs wrote.',
    labelNames: ['what'],
    registers: [this.registry],
  });

  readonly restamps = new Counter({
    name: 'tidemark_restamps_total',
    help: 'Records and tombstones that this instance re-stamped, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly passes = new Counter({
    name: 'tidemark_passes_total',
    help: 'Passes over all records that this instance began: on the first start, or to repair a lost history.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly passProgress = new Gauge({
    name: 'tidemark_pass_progress',
    help: 'Share of records and ledger entries that the running pass has processed, 0 to 1; absent without a pass.',
    registers: [this.registry],
  });

  readonly tombstones = new Counter({
    name: 'tidemark_tombstones_total',
    help: 'Hard deletes that this instance wrote into the ledger.',
    registers: [this.registry],
  });

  readonly tombstonesExpired = new Counter({
    name: 'tidemark_tombstones_expired_total',
    help: 'Hard deletes that this instance removed after their retention period.',
    registers: [this.registry],
  });

  readonly schemaChanges = new Counter({
    name: 'tidemark_schema_changes_total',
    help: 'Fields of services that this instance has seen appear, vanish or change their type, by type of change.',
    labelNames: ['change'],
    registers: [this.registry],
  });

  readonly auditFound = new Counter({
    name: 'tidemark_audit_found_total',
    help: 'Errors in the ledger that this instance found and corrected, by type.',
    labelNames: ['what'],
    registers: [this.registry],
  });

  readonly certificateEnds = new Gauge({
    name: 'tidemark_certificate_expiry_timestamp_seconds',
    help: 'When the certificate in use expires, as a Unix time; absent without TLS_CERT.',
    registers: [this.registry],
  });

  /**
   * Prometheus sees only the increase of a series that it has seen before, so the series start at 0 before the first
   * pass or change.
   */
  constructor() {
    this.buildInfo.set({ ...thisBuild() }, 1);
    for (const reason of ['first start', 'repair']) this.passes.inc({ reason }, 0);
    for (const change of ['appeared', 'vanished', 'type']) this.schemaChanges.inc({ change }, 0);
    this.certificateEnds.remove();
  }

  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
  }
}
