import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The share of all connections that those without a login may have, and that idle ones with a login may have. */
const SHARE = 3 / 4;

/** The log says it once in this time (milliseconds). */
const TOLD_EVERY_MS = 60_000;

interface Connection {
  socket: Socket;
  /** Requests whose answers have not ended. */
  open: Set<Request>;
}

const PROVING = Symbol('proving');

/** With `user` once a guard has let it in. */
type Request = IncomingMessage & { user?: unknown; [PROVING]?: boolean };

/**
 * Bounds the connections of a server, so that it never runs out of file descriptors: an operating system that is asked for
 * one too many resets connections without a sign. A connection belongs to a stranger until a login is let in on it.
 *
 * - Beyond the limits, the stranger that came first is closed, whatever it has under way. By age, since everything else is
 *   for strangers to choose: what they send, how slowly, and whether they read. Those whose login is being compared go last,
 *   since they wait for this service; how many these are is limited elsewhere.
 * - A connection with a login is closed for another one with a login only, and only while it is idle. So idle ones leave a
 *   quarter of all to new connections.
 */
export class Connections {
  /** The oldest first. */
  private readonly strangers = new Map<Socket, Connection>();
  /** In the order of their last use. */
  private readonly known = new Map<Socket, Connection>();
  private readonly share: number;
  private toldAt = -Infinity;

  constructor(
    private readonly most: number,
    private readonly tell: (line: string) => void,
  ) {
    this.share = Math.max(1, Math.floor(most * SHARE));
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
    if (this.isOver()) this.closeStranger(connection);
  }

  private asked(request: Request, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.strangers.get(socket) ?? this.known.get(socket);
    if (connection === undefined) return;
    connection.open.add(request);
    response.once('close', () => {
      connection.open.delete(request);
      if (socket.destroyed) return;
      if (this.known.has(socket)) this.used(connection);
      else if (request.user !== undefined) this.letIn(connection);
    });
  }

  private isOver(): boolean {
    return this.strangers.size > this.share || this.strangers.size + this.known.size > this.most;
  }

  /** Closes the oldest, but for those that turn out to be let in by now: the answer to a request may last for days. */
  private closeStranger(newest: Connection): void {
    let last: Connection | undefined;
    for (const connection of this.strangers.values()) {
      const open = [...connection.open];
      if (open.some(({ user }) => user !== undefined)) {
        this.letIn(connection);
        if (!this.isOver()) return;
      } else if (connection === newest || open.some((request) => request[PROVING])) last ??= connection;
      else return this.end(connection);
    }
    if (last !== undefined) this.end(last);
  }

  private letIn(connection: Connection): void {
    this.strangers.delete(connection.socket);
    this.used(connection);
    if (this.known.size <= this.share) return;
    for (const other of this.known.values())
      if (other !== connection && other.open.size === 0) return this.end(other);
  }

  /** It is the last one that was used. */
  private used(connection: Connection): void {
    this.known.delete(connection.socket);
    this.known.set(connection.socket, connection);
  }

  private end({ socket }: Connection): void {
    this.strangers.delete(socket);
    this.known.delete(socket);
    socket.destroy();
    const now = performance.now();
    if (now - this.toldAt < TOLD_EVERY_MS) return;
    this.toldAt = now;
    this.tell(
      `More connections are open than MAX_CONNECTIONS allows: ${this.most}, of which ${this.share} without a login. ` +
        'The oldest without a login are closed, and idle ones with a login where those alone are too many.',
    );
  }
}

/** Marks a request while the service finds out whose it is. */
export async function whileProving<T>(request: Request, task: () => Promise<T>): Promise<T> {
  request[PROVING] = true;
  try {
    return await task();
  } finally {
    request[PROVING] = false;
  }
}
