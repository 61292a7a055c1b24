import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The part of all connections that those without a login may have. */
const STRANGERS = 3 / 4;

/** The log says it once in this time (milliseconds). */
const TOLD_EVERY_MS = 60_000;

interface Connection {
  socket: Socket;
  /** Requests whose answers have not ended. */
  open: Set<Request>;
}

/** A request as it is once the guard has let it in. */
type Request = IncomingMessage & { user?: unknown };

/**
 * Bounds the connections of a server, so that it never runs out of file descriptors: an operating system that is asked for
 * one too many resets connections without a sign. Beyond the limit, the connection that has been idle for longest is closed.
 * Those on which no login was let in go first, and have three quarters of all, so that idle connections of strangers refuse
 * no one with a login. A connection with a request under way is not closed; where all have one, the new connection is.
 */
export class Connections {
  /** In the order of their last use. */
  private readonly strangers = new Map<Socket, Connection>();
  private readonly known = new Map<Socket, Connection>();
  private readonly mostStrangers: number;
  private toldAt = -Infinity;

  constructor(
    private readonly most: number,
    private readonly tell: (line: string) => void,
  ) {
    this.mostStrangers = Math.max(1, Math.floor(most * STRANGERS));
  }

  /** Before the server listens. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.opened(socket));
    server.prependListener('request', (request, response) => this.asked(request, response));
  }

  private opened(socket: Socket): void {
    const connection = { socket, open: new Set<Request>() };
    this.strangers.set(socket, connection);
    socket.once('close', () => {
      this.strangers.delete(socket);
      this.known.delete(socket);
    });
    if (this.strangers.size > this.mostStrangers) this.closeStranger(connection);
    if (this.strangers.size + this.known.size > this.most) this.closeIdle(connection);
  }

  private asked(request: Request, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.strangers.get(socket) ?? this.known.get(socket);
    if (connection === undefined) return;
    connection.open.add(request);
    response.once('close', () => {
      connection.open.delete(request);
      this.used(connection, request.user !== undefined);
    });
  }

  /** It is the last one that was used. */
  private used(connection: Connection, isLetIn: boolean): void {
    const { socket } = connection;
    if (socket.destroyed) return;
    const isKnown = isLetIn || this.known.has(socket);
    this.strangers.delete(socket);
    this.known.delete(socket);
    (isKnown ? this.known : this.strangers).set(socket, connection);
  }

  /** Closes an idle stranger, unless enough of them turn out to be let in by now: a stream may last for days. */
  private closeStranger(newest: Connection): void {
    for (const connection of this.strangers.values()) {
      const { socket, open } = connection;
      if (connection === newest) continue;
      if (open.size === 0) return this.end(connection);
      if (![...open].some(({ user }) => user !== undefined)) continue;
      this.strangers.delete(socket);
      this.known.set(socket, connection);
      if (this.strangers.size <= this.mostStrangers) return;
    }
    this.end(newest);
  }

  private closeIdle(newest: Connection): void {
    for (const connections of [this.strangers, this.known])
      for (const connection of connections.values())
        if (connection !== newest && connection.open.size === 0) return this.end(connection);
    this.end(newest);
  }

  private end({ socket }: Connection): void {
    this.strangers.delete(socket);
    this.known.delete(socket);
    socket.destroy();
    const now = performance.now();
    if (now - this.toldAt < TOLD_EVERY_MS) return;
    this.toldAt = now;
    this.tell(
      `There are more connections than MAX_CONNECTIONS allows: ${this.most}, of which ${this.mostStrangers} without a ` +
        'login. Those that have been idle for longest are closed, first those without a login.',
    );
  }
}
