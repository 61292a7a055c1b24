import { existsSync, statSync } from 'node:fs';
import { fileTrouble } from './files.js';
import { parseSettings } from './parse-settings.js';
import { ConfigError } from './process.js';
import { type Settings, settingTable } from './settings.js';

/**
 * Reads the settings. Throws a ConfigError whose message names the variable and says how to correct it. An invalid
 * value is quoted, unless it may contain a secret.
 */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const settings = parseSettings(settingTable, environment);
  assertDatabase(settings);
  assertTls(settings);
  assertPorts(settings);
  assertEvents(settings);
  return settings;
}

function assertDatabase({ production, role, mongodbUri }: Settings): void {
  if (mongodbUri !== undefined) return;
  if (production) {
    throw new ConfigError(
      'MONGODB_URI is missing: with NODE_ENV=production the embedded database is not used. ' +
        'Set it, for example to mongodb://db1,db2,db3/tidemark?replicaSet=rs0.',
    );
  }
  if (role !== 'all') {
    throw new ConfigError(
      `MONGODB_URI is missing: with ROLE=${role} the embedded database is not used, since another instance ` +
        'has to do the rest. Set it, for example to mongodb://db1,db2,db3/tidemark?replicaSet=rs0.',
    );
  }
}

/** Checks settings that are of no use without another one. It does not read the files: commands do not need them. */
function assertTls({ tlsCert, tlsKey, tlsClientCa }: Settings): void {
  const missing = (name: string, beside: string, example: string) =>
    new ConfigError(
      `${name} is missing: ${beside} is set. Set both, for example ${name}=${example}, or neither.`,
    );
  if (tlsCert === undefined && tlsKey !== undefined)
    throw missing('TLS_CERT', 'TLS_KEY', '/etc/tidemark/tls.crt');
  if (tlsKey === undefined && tlsCert !== undefined)
    throw missing('TLS_KEY', 'TLS_CERT', '/etc/tidemark/tls.key');
  if (tlsClientCa !== undefined && tlsCert === undefined)
    throw missing('TLS_CERT', 'TLS_CLIENT_CA', '/etc/tidemark/tls.crt');
}

function assertPorts({ host, port, metricsHost, metricsPort }: Settings): void {
  if (metricsPort === undefined && metricsHost !== undefined)
    throw new ConfigError(
      'METRICS_PORT is missing: METRICS_HOST is set. Set both, for example METRICS_PORT=9464, or neither.',
    );
  if (metricsPort === port && port !== 0 && (metricsHost ?? host) === host)
    throw new ConfigError(
      `METRICS_PORT ${port} is the same as PORT. Set METRICS_PORT to another port, or leave it out to serve health ` +
        'and metrics on PORT.',
    );
}

/**
 * The comments of event streams are sent by the timer that checks the streams, so they cannot be more frequent than the
 * checks.
 */
function assertEvents({ eventsCheckMs, eventsCommentMs }: Settings): void {
  if (eventsCommentMs < eventsCheckMs)
    throw new ConfigError(
      `EVENTS_COMMENT_MS ${eventsCommentMs} is shorter than EVENTS_CHECK_MS ${eventsCheckMs}, but event streams send ` +
        `their comments only when they are checked. Set EVENTS_CHECK_MS to ${eventsCommentMs} or less.`,
    );
}

/**
 * The settings of this process, from the environment and, with lower precedence, a `.env` file in the working
 * directory.
 */
export function settingsOfProcess(): Settings {
  if (existsSync('.env')) loadDotEnv();
  return readSettings(process.env);
}

function loadDotEnv(): void {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    // Node's own message for a directory does not say that it is one.
    const trouble = statSync('.env').isDirectory()
      ? 'it is a directory'
      : fileTrouble(error as NodeJS.ErrnoException);
    throw new ConfigError(
      `.env in the working directory cannot be read: ${trouble}. Make it a readable file with lines such as PORT=3000, or remove it.`,
    );
  }
}
