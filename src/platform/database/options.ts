import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Connection } from 'mongoose';

/** The parts of the driver's internal classes that are used here. */
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
 * Works around two faults of the driver (docs/driver-reports.md). The first workaround is not essential: without it, a
 * command waits for its timeout. Without the second one, a request during a fail-over is answered 500 instead of 503.
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

/** A module of the driver that Mongoose loads. The build replaces each call with an import (scripts/bundling.mjs). */
function ofDriver(path: string): unknown {
  return createRequire(createRequire(import.meta.url).resolve('mongoose'))(path);
}

/**
 * The driver still hands out a connection whose socket is destroyed, until the socket emits `close`. A command that
 * is written in between waits for a `drain` that never comes. Emitting `drain` on `close` ends the wait, and the
 * driver sees that the socket is gone.
 */
function endWritesWithTheirSocket(connection: DriverConnection): void {
  const { onClose } = connection;
  connection.onClose = function () {
    onClose.call(this);
    this.socket.emit('drain');
  };
}

/** With `raw: true` an error would be left undecoded as well, and the driver would fail on its `topologyVersion`. */
function decodeErrors(reply: DriverReply): void {
  const { toObject } = reply;
  reply.toObject = function (options) {
    return toObject.call(this, this.ok === 0 ? { ...options, raw: false } : options);
  };
}

/** Injection token of the connection string, for components with their own client, such as the watcher. */
export const DATABASE_URI = Symbol('database uri');

/** Other programs may store text that is not UTF-8, and regular expressions that JavaScript does not support. */
export const SAFE_BSON = { enableUtf8Validation: false, bsonRegExp: true } as const;

/** The application name of all connections of the service, as the database shows it. */
export const APP_NAME = 'tidemark';

/** Time limit for small commands that have no limit of their own (milliseconds). */
export const COMMAND_MS = 15_000;

/**
 * Limits of waiting for the database (milliseconds). A server that does not answer heartbeats is detected after the
 * sum of the first two, which ends all commands that wait for it. The last limit is for a single connection that is
 * dead without notice; it is longer than the longest QUERY_MS.
 */
const ENDS = {
  connectTimeoutMS: 5000,
  heartbeatFrequencyMS: 3000,
  serverSelectionTimeoutMS: 3000,
  waitQueueTimeoutMS: 5000,
  socketTimeoutMS: 660_000,
} as const;

/**
 * Reads return only data that no fail-over can roll back. Writes are acknowledged by a majority, and fail if no
 * majority confirms them in time.
 */
export const driverOptions = {
  appName: APP_NAME,
  readPreference: 'primary',
  readConcernLevel: 'majority',
  writeConcern: { w: 'majority', wtimeoutMS: COMMAND_MS },
  ...ENDS,
  /** The server is polled and does not also push its state: an idle service then receives half as much data. */
  serverMonitoringMode: 'poll',
  ignoreUndefined: false,
  ...SAFE_BSON,
} as const;

/**
 * The same for Mongoose. Calls without a connection fail at once instead of waiting in a buffer. The indexes are
 * created by the preparation, not by the models.
 */
export const connectionOptions = {
  ...driverOptions,
  bufferCommands: false,
  autoIndex: false,
  autoCreate: false,
} as const;

/**
 * Lets a connection of Mongoose have collections with any name. Mongoose keeps them in an object, in which it would also
 * find what every object inherits: a collection `constructor` would be a function.
 */
export function withAnyCollection<C extends Pick<Connection, 'collections'>>(connection: C): C {
  Object.setPrototypeOf(connection.collections, null);
  return connection;
}
