import type { SettingTable } from './parse-settings.js';

const ONE_MINUTE = 60_000;
const MEGABYTE = 1024 * 1024;

/** The source of `.env.example` and `docs/settings.md`: name, default and valid values. */
export const settingTable: SettingTable<Settings> = {
  mongodbUri: { env: 'MONGODB_URI', type: 'uri', isSecret: true, fallback: undefined },
  production: { env: 'NODE_ENV', type: 'production', fallback: false },
  role: { env: 'ROLE', type: 'choice', choices: ['all', 'serve', 'watch'], fallback: 'all' },
  host: { env: 'HOST', type: 'text', fallback: '127.0.0.1' },
  port: { env: 'PORT', type: 'integer', min: 0, max: 65_535, fallback: 3000 },
  tlsCert: { env: 'TLS_CERT', type: 'text', fallback: undefined },
  tlsKey: { env: 'TLS_KEY', type: 'text', fallback: undefined },
  tlsClientCa: { env: 'TLS_CLIENT_CA', type: 'text', fallback: undefined },
  dataDir: { env: 'DATA_DIR', type: 'text', fallback: './data' },
  logLevel: {
    env: 'LOG_LEVEL',
    type: 'choice',
    choices: ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'],
    fallback: 'info',
  },
  logFormat: { env: 'LOG_FORMAT', type: 'choice', choices: ['auto', 'json', 'lines'], fallback: 'auto' },
  limitMax: { env: 'LIMIT_MAX', type: 'integer', min: 1, max: 100_000, fallback: 10_000 },
  bodyLimit: { env: 'BODY_LIMIT', type: 'integer', min: 1024, max: 8 * 1024 * 1024, fallback: 256 * 1024 },
  loginFailures: { env: 'LOGIN_FAILURES', type: 'integer', min: 1, max: 100_000, fallback: 20 },
  credentialQuota: { env: 'CREDENTIAL_QUOTA', type: 'integer', min: 0, max: 10_000_000, fallback: 0 },
  credentialPages: { env: 'CREDENTIAL_PAGES', type: 'integer', min: 1, max: 10_000, fallback: 32 },
  feedMemory: {
    env: 'FEED_MEMORY',
    type: 'integer',
    min: 4 * MEGABYTE,
    max: 4096 * MEGABYTE,
    fallback: 48 * MEGABYTE,
  },
  queryMs: { env: 'QUERY_MS', type: 'integer', min: 100, max: 10 * ONE_MINUTE, fallback: 30_000 },
  corsOrigins: { env: 'CORS_ORIGINS', type: 'origins', fallback: [] },
  maxConnections: { env: 'MAX_CONNECTIONS', type: 'integer', min: 0, max: 1_000_000, fallback: 0 },
  credentialConnections: {
    env: 'CREDENTIAL_CONNECTIONS',
    type: 'integer',
    min: 0,
    max: 1_000_000,
    fallback: 0,
  },
  keepAliveMs: { env: 'KEEP_ALIVE_MS', type: 'integer', min: 1000, max: 10 * ONE_MINUTE, fallback: 75_000 },
  receiveMs: { env: 'RECEIVE_MS', type: 'integer', min: 1000, max: 10 * ONE_MINUTE, fallback: ONE_MINUTE },
  signOfLifeMs: { env: 'SIGN_OF_LIFE_MS', type: 'integer', min: 1, max: ONE_MINUTE, fallback: 10_000 },
  stalledMs: {
    env: 'STALLED_MS',
    type: 'integer',
    min: 1000,
    max: 60 * ONE_MINUTE,
    fallback: 2 * ONE_MINUTE,
  },
  eventsCheckMs: { env: 'EVENTS_CHECK_MS', type: 'integer', min: 10, max: 5000, fallback: 1000 },
  eventsCommentMs: {
    env: 'EVENTS_COMMENT_MS',
    type: 'integer',
    min: 10,
    max: 15_000,
    fallback: 15_000,
  },
  markWait: { env: 'MARK_WAIT', type: 'integer', min: 10, max: ONE_MINUTE, fallback: 2000 },
  knowledgeMs: { env: 'KNOWLEDGE_MS', type: 'integer', min: 0, max: 1000, fallback: 500 },
  tombstoneRetentionDays: {
    env: 'TOMBSTONE_RETENTION_DAYS',
    type: 'integer',
    min: 0,
    max: 36_500,
    fallback: 0,
  },
  auditTrailDays: { env: 'AUDIT_TRAIL_DAYS', type: 'integer', min: 1, max: 36_500, fallback: 365 },
  restampHistoryDays: { env: 'RESTAMP_HISTORY_DAYS', type: 'integer', min: 0, max: 36_500, fallback: 30 },
  auditShare: { env: 'AUDIT_SHARE', type: 'integer', min: 1, max: 100, fallback: 1 },
  auditSlice: { env: 'AUDIT_SLICE', type: 'integer', min: 1, max: 100_000, fallback: 2000 },
  auditPauseMs: { env: 'AUDIT_PAUSE_MS', type: 'integer', min: 1, max: 60 * ONE_MINUTE, fallback: 10_000 },
  schemaPauseMs: {
    env: 'SCHEMA_PAUSE_MS',
    type: 'integer',
    min: 100,
    max: 24 * 60 * ONE_MINUTE,
    fallback: 5 * ONE_MINUTE,
  },
  trustProxy: { env: 'TRUST_PROXY', type: 'proxies', fallback: '' },
  metricsHost: { env: 'METRICS_HOST', type: 'text', fallback: undefined },
  metricsPort: {
    env: 'METRICS_PORT',
    type: 'integer',
    min: 0,
    max: 65_535,
    example: 9464,
    fallback: undefined,
  },
  metrics: { env: 'METRICS', type: 'switch', fallback: true },
  docs: { env: 'DOCS', type: 'switch', fallback: true },
  console: { env: 'CONSOLE', type: 'switch', fallback: true },
  otlpEndpoint: { env: 'OTEL_EXPORTER_OTLP_ENDPOINT', type: 'endpoint', fallback: undefined },
  otlpHeaders: {
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    type: 'pairs',
    example:
      'api-key=0123, with the name and key that the receiver wants, percent-encoded, with commas between several',
    isSecret: true,
    fallback: undefined,
  },
  otelServiceName: { env: 'OTEL_SERVICE_NAME', type: 'text', fallback: undefined },
  otelResource: {
    env: 'OTEL_RESOURCE_ATTRIBUTES',
    type: 'pairs',
    example: 'deployment.environment.name=production, percent-encoded, with commas between several',
    fallback: undefined,
  },
  tracesSampler: {
    env: 'OTEL_TRACES_SAMPLER',
    type: 'choice',
    choices: [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
    fallback: 'parentbased_always_on',
  },
  tracesSamplerArg: { env: 'OTEL_TRACES_SAMPLER_ARG', type: 'ratio', fallback: 1 },
  mongodBinary: { env: 'MONGOMS_SYSTEM_BINARY', type: 'text', fallback: undefined },
};

/** All settings of the environment, complete and validated. Outside this room, nothing reads the environment. */
export interface Settings {
  /** Connection string of a replica set; without it the embedded mongod serves. */
  mongodbUri: string | undefined;
  production: boolean;
  /**
   * `serve`: answers requests, never leads the watcher. `watch`: may lead, and answers health and metrics only. `all`:
   * both.
   */
  role: string;
  host: string;
  /** TCP port; 0 takes a free one. */
  port: number;
  /**
   * Path of the certificate in PEM form, with its chain; without it the service speaks plain HTTP. Set together with
   * `tlsKey`.
   */
  tlsCert: string | undefined;
  /** Path of the private key of that certificate in PEM form. */
  tlsKey: string | undefined;
  /** Path of the certificates of the authorities that sign client certificates; if set, clients must have one. */
  tlsClientCa: string | undefined;
  dataDir: string;
  logLevel: string;
  /** `json`, `lines` for people, or `auto`: lines on a terminal. */
  logFormat: string;
  limitMax: number;
  /** Bytes. */
  bodyLimit: number;
  /** Maximum number of failed logins per minute for one pair of address and user name, in each instance. */
  loginFailures: number;
  /** Maximum number of requests per minute for each credential, in each instance; 0 disables the quota. */
  credentialQuota: number;
  /** Maximum number of pages in progress for one credential, in each instance. */
  credentialPages: number;
  /**
   * Approximate memory limit for all pages in flight, in bytes: database replies, and text that no connection has
   * accepted yet.
   */
  feedMemory: number;
  /** Milliseconds the database may spend on one query. */
  queryMs: number;
  /** Origins whose scripts may call this service; none by default. */
  corsOrigins: string[];
  /**
   * Maximum number of client connections, but never more than the process's file descriptor limit less a reserve; 0
   * means that number.
   */
  maxConnections: number;
  /** Maximum number of connections with requests in progress for one credential; 0 means a quarter of all. */
  credentialConnections: number;
  /** Milliseconds after which an idle connection is closed. */
  keepAliveMs: number;
  /** Time limit for receiving a complete request, including its body, in milliseconds. */
  receiveMs: number;
  /**
   * Interval at which blanks are sent while a page is not ready, in milliseconds; the first blank is sent after one
   * interval. It has to be shorter than the timeout of a proxy.
   */
  signOfLifeMs: number;
  /**
   * Milliseconds after which a client that reads nothing more of its answer is disconnected. Otherwise the memory of
   * the answer would never be freed.
   */
  stalledMs: number;
  /**
   * Interval at which streams of `events` are checked for a new offset and for revoked access, in milliseconds. A
   * stream ends a few seconds after its access is revoked (contract §1).
   */
  eventsCheckMs: number;
  /**
   * Interval of the comments in a stream of `events`, so that no proxy considers it dead, in milliseconds. At most the
   * 15 s that contract §1 promises.
   */
  eventsCommentMs: number;
  /** Milliseconds a request waits for the watcher before it is answered 503 `not-watched`. */
  markWait: number;
  /** Maximum age of cached knowledge of the database, in milliseconds; 0 disables the cache. */
  knowledgeMs: number;
  /** Days for which hard deletes are kept; 0 keeps them forever. */
  tombstoneRetentionDays: number;
  /** Days for which the audit trail is kept. */
  auditTrailDays: number;
  /** Days for which the history of re-stamps and their reasons is kept; 0 disables the history. */
  restampHistoryDays: number;
  /** Maximum share of the database's time for the audit of the ledger, in percent. */
  auditShare: number;
  /** Maximum number of records, and of ledger entries, in one slice of the audit. */
  auditSlice: number;
  /** Shortest pause between two slices of the audit, in milliseconds; 30 times that between two rounds. */
  auditPauseMs: number;
  /** Longest pause between two samples of a service for its schema while its records change (milliseconds). */
  schemaPauseMs: number;
  trustProxy: string;
  /** Address of `metricsPort`; without it, that of `host`. */
  metricsHost: string | undefined;
  /** TCP port of health checks and metrics, which are then not served on `port`; 0 takes a free one. */
  metricsPort: number | undefined;
  metrics: boolean;
  docs: boolean;
  console: boolean;
  /** Base URL of the receiver of traces; without it nothing is traced. */
  otlpEndpoint: string | undefined;
  /** Headers of each request to that receiver. */
  otlpHeaders: Record<string, string> | undefined;
  /** `service.name` of the traces; without it, that of `otelResource`, else `tidemark`. */
  otelServiceName: string | undefined;
  /** Further OpenTelemetry resource attributes of the traces. */
  otelResource: Record<string, string> | undefined;
  tracesSampler: string;
  /** The fraction of traces that a sampler by ratio keeps. */
  tracesSamplerArg: number;
  mongodBinary: string | undefined;
}
