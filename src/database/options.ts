/** Injection token of the connection string, for clients of their own such as the watcher's. */
export const DATABASE_URI = Symbol('database uri');

/** Other programs may store text that is not UTF-8, and regular expressions that JavaScript does not know. */
export const SAFE_BSON = { enableUtf8Validation: false, bsonRegExp: true } as const;

/** The name by which the database knows every connection of the service. */
export const APP_NAME = 'tidemark';

/** A small command that has no end of its own is waited for so long (milliseconds). */
export const COMMAND_MS = 15_000;

/**
 * When waiting for the database ends (milliseconds). A server that answers no heartbeat is found out after the sum of the
 * first two, and all commands that wait for it end then. The last one is for a single connection that is dead without a
 * sign; it is longer than the longest QUERY_MS.
 */
const ENDS = {
  connectTimeoutMS: 5000,
  heartbeatFrequencyMS: 3000,
  serverSelectionTimeoutMS: 3000,
  waitQueueTimeoutMS: 5000,
  socketTimeoutMS: 660_000,
} as const;

/**
 * Reads see only what no fail-over can take back, and writes are answered only then, or fail where no majority confirms
 * them in time.
 */
export const driverOptions = {
  appName: APP_NAME,
  readPreference: 'primary',
  readConcernLevel: 'majority',
  writeConcern: { w: 'majority', wtimeoutMS: COMMAND_MS },
  ...ENDS,
  /** The server is asked, and does not tell by itself as well: an idle service has half as much to read. */
  serverMonitoringMode: 'poll',
  ignoreUndefined: false,
  ...SAFE_BSON,
} as const;

/**
 * The same for Mongoose. Calls made while there is no connection fail at once instead of waiting in a buffer, and
 * indexes are made by the preparation, not by the models.
 */
export const connectionOptions = {
  ...driverOptions,
  bufferCommands: false,
  autoIndex: false,
  autoCreate: false,
} as const;
