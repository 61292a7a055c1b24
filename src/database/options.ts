import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** What is needed of the classes that the driver keeps for itself. */
interface DriverConnection {
  socket: Socket;
  onClose: (this: DriverConnection) => void;
}
interface DriverReply {
  ok: number;
  toObject: (this: DriverReply, options?: object) => object;
}
type DriverClass<Name extends string, T> = Record<Name, { prototype: T }>;

const CLOSED = new WeakSet<object>();

/**
 * Repairs two faults of the driver (docs/driver-reports.md). Nothing depends on the first alone: without it a command waits
 * until it is given up. Without the second a request at a fail-over is answered with 500 instead of 503.
 */
export function closeDriverGaps(): void {
  const { Connection } = ofDriver('mongodb/lib/cmap/connection.js') as DriverClass<
    'Connection',
    DriverConnection
  >;
  const { MongoDBResponse } = ofDriver('mongodb/lib/cmap/wire_protocol/responses.js') as DriverClass<
    'MongoDBResponse',
    DriverReply
  >;
  if (CLOSED.has(Connection)) return;
  CLOSED.add(Connection);
  endWritesWithTheirSocket(Connection.prototype);
  decodeErrors(MongoDBResponse.prototype);
}

/** A module of the driver that Mongoose loads. The build puts an import in the place of each call (scripts/bundling.mjs). */
function ofDriver(path: string): unknown {
  return createRequire(createRequire(import.meta.url).resolve('mongoose'))(path);
}

/**
 * A connection whose socket is destroyed is still handed out until the socket's `close` comes. A command that is written
 * then waits for a `drain` that never comes. With `close` the wait is over, and the driver sees that the socket is gone.
 */
function endWritesWithTheirSocket(connection: DriverConnection): void {
  const { onClose } = connection;
  connection.onClose = function () {
    onClose.call(this);
    this.socket.emit('drain');
  };
}

/** With `raw: true` an error would be left undecoded too, and the driver fails on its `topologyVersion`. */
function decodeErrors(reply: DriverReply): void {
  const { toObject } = reply;
  reply.toObject = function (options) {
    return toObject.call(this, this.ok === 0 ? { ...options, raw: false } : options);
  };
}

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
