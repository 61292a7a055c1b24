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
