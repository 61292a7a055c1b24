import { randomUUID } from 'node:crypto';
import {
  type IncomingMessage,
  maxHeaderSize,
  type ServerResponse,
  STATUS_CODES,
  type Server,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { answerText } from './answer.js';
import { Problem } from './problem.js';
import { problems } from './problems.js';
import { tcpSocketOf } from './certificate.js';

const LINGER_MS = 5000;

/**
 * Node's internal reference to the answer in progress on a socket. Node's default handler uses it in the same way.
 */
interface Answering {
  _httpMessage?: ServerResponse<IncomingMessage & { id?: string }> | null;
}

/** Writes the line of an answer to the log. */
export type LogAnswer = (problem: Problem, requestId: string) => void;

/**
 * Makes the handler for `clientError` of the HTTP server: it answers data that Node cannot parse as a request, in the form
 * of contract §3. The connection is closed after the answer, or without one if another answer has begun on it.
 */
export function clientErrorHandler(log: LogAnswer) {
  return (error: NodeJS.ErrnoException, socket: Duplex & Answering): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent === true)
      socket.destroy();
    else answerClientError(problemOf(error), socket, log);
  };
}

function answerClientError(problem: Problem, socket: Duplex & Answering, log: LogAnswer): void {
  // Of a request whose body does not arrive, the id is known: its line in the log has it too.
  const requestId = socket._httpMessage?.req.id ?? randomUUID();
  const body = answerText(problem.body(requestId));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: private, no-cache',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  log(problem, requestId);
  // If the socket were closed at once, a client that is still sending could lose the answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem(
      431,
      'headers-too-large',
      'The headers are too large',
      `The URL and the headers of a request have at most ${maxHeaderSize} bytes together.`,
    );
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem(
      408,
      'request-timeout',
      'The request took too long',
      'The request did not arrive in time. Send it again.',
    );
  return problems.malformedRequest('What was sent is not a valid HTTP/1.1 request.');
}

/**
 * Disconnects a client that reads nothing of an answer for `ms` milliseconds. The timeout of Node's server would also
 * disconnect a client that waits for its answer, or for the next event.
 */
export function endStalled(server: Server, ms: number): void {
  server.prependListener('request', (_request, response: ServerResponse) =>
    response.setTimeout(ms, () => {
      if (response.writableLength > 0) response.destroy();
      else response.setTimeout(ms);
    }),
  );
}

/** The maximum share of connections without a login. If a larger share has a login, idle ones of these are closed. */
const SHARE = 3 / 4;

/** Minimum interval between log entries (milliseconds). */
const LOGGED_EVERY_MS = 60_000;

/** The default share of connections on which one credential may have requests in progress. */
const SHARE_OF_CREDENTIAL = 1 / 4;

interface Connection {
  socket: Socket;
  /**
   * The login whose request was accepted since the connection was last idle. Without one, the connection counts as
   * idle.
   */
  holder?: string | undefined;
  /** Accepted requests with a login whose answers have not ended. */
  open: number;
  /** Requests whose login is being verified. */
  proving: number;
  /** Data that arrived together with the connection has been read. */
  isRipe: boolean;
  owner: Connections;
}

const CONNECTION = Symbol('connection');

type Watched = Socket & { [CONNECTION]?: Connection };

/**
 * Limits the connections of a server, so that it never runs out of file descriptors: at that limit, an operating
 * system resets connections without notice. A connection is anonymous until a request with a login is accepted on it.
 *
 * - Above the limits, an anonymous connection is closed. Those that have sent a request and those that have not are
 *   two groups; the larger group loses its oldest connection, even if a request is in progress. The choice depends on
 *   age only, because clients control everything else: what they send, how slowly, and whether they read. With two
 *   groups, a flood of one kind does not close connections of the other. A connection whose login is being verified
 *   is not closed, because it waits for this service; the number of such connections is limited elsewhere. Nor is a
 *   connection whose first bytes could not be read yet. If no connection of the group can be closed, the newest is.
 * - A connection with a login is closed only in favor of another one with a login, and only while it has no request
 *   with a login in progress. Idle ones therefore leave a quarter of all connections to new ones.
 * - A credential may have requests in progress on a quarter of all connections, or on the configured number, so that
 *   it cannot exhaust the connections of others.
 */
export class Connections {
  /** Anonymous connections without a request, oldest first. */
  private readonly silent = new Set<Connection>();
  /** Anonymous connections with a request, oldest request first. */
  private readonly asking = new Set<Connection>();
  /** Connections with a login, least recently used first. */
  private readonly known = new Set<Connection>();
  private readonly ofCredential = new Map<string, number>();
  private readonly share: number;
  private readonly mostOfCredential: number;
  private loggedAt = -Infinity;

  constructor(
    private readonly most: number,
    private readonly log: (line: string) => void,
    ofCredential = 0,
    /** For the log: the setting of the limit, and a verb. */
    private readonly limit = 'MAX_CONNECTIONS allows',
  ) {
    this.share = Math.max(1, Math.floor(most * SHARE));
    this.mostOfCredential = ofCredential || Math.max(1, Math.floor(most * SHARE_OF_CREDENTIAL));
  }

  /** Call this before the server listens. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.opened(socket));
    server.prependListener('request', ({ socket }) => this.asked(socket));
  }

  /**
   * Assigns the request to this login until its answer has ended. Throws 429 `connections-busy` if this user name
   * already has requests in progress on its maximum number of connections. After that 429, the connection is
   * closed.
   */
  take(connection: Connection, username: string, response: ServerResponse): void {
    if (connection.socket.destroyed || response.closed) return;
    if (connection.holder === undefined) {
      const others = this.ofCredential.get(username) ?? 0;
      if (others >= this.mostOfCredential) throw problems.connectionsBusy(this.mostOfCredential);
      this.ofCredential.set(username, others + 1);
      connection.holder = username;
    }
    connection.open += 1;
    response.once('close', () => this.answered(connection));
    this.letIn(connection);
  }

  private opened(socket: Watched): void {
    const connection: Connection = { socket, open: 0, proving: 0, isRipe: false, owner: this };
    socket[CONNECTION] = connection;
    this.silent.add(connection);
    // The second callback runs after the next poll for incoming data.
    setImmediate(() => setImmediate(() => (connection.isRipe = true)));
    socket.once('close', () => this.forget(connection));
    if (this.isOver()) this.end(this.strangerToClose() ?? connection);
  }

  private asked(socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection !== undefined && this.silent.delete(connection)) this.asking.add(connection);
  }

  private answered(connection: Connection): void {
    connection.open -= 1;
    if (connection.open > 0) return;
    this.release(connection);
    if (this.known.has(connection)) this.used(connection);
  }

  private isOver(): boolean {
    const anonymous = this.silent.size + this.asking.size;
    return anonymous > this.share || anonymous + this.known.size > this.most;
  }

  private strangerToClose(): Connection | undefined {
    if (this.silent.size < this.asking.size) {
      for (const connection of this.asking) if (connection.proving === 0) return connection;
      return undefined;
    }
    const [oldest] = this.silent;
    return oldest?.isRipe === true ? oldest : undefined;
  }

  private letIn(connection: Connection): void {
    this.silent.delete(connection);
    this.asking.delete(connection);
    this.used(connection);
    if (this.known.size <= this.share) return;
    for (const other of this.known) if (other.holder === undefined) return this.end(other);
  }

  /** Moves the connection to the end of the order of use. */
  private used(connection: Connection): void {
    this.known.delete(connection);
    this.known.add(connection);
  }

  private release(connection: Connection): void {
    const { holder } = connection;
    if (holder === undefined) return;
    connection.holder = undefined;
    const left = (this.ofCredential.get(holder) ?? 0) - 1;
    if (left > 0) this.ofCredential.set(holder, left);
    else this.ofCredential.delete(holder);
  }

  private forget(connection: Connection): void {
    this.silent.delete(connection);
    this.asking.delete(connection);
    this.known.delete(connection);
    this.release(connection);
  }

  private end(connection: Connection): void {
    this.forget(connection);
    connection.socket.destroy();
    const now = performance.now();
    if (now - this.loggedAt < LOGGED_EVERY_MS) return;
    this.loggedAt = now;
    this.log(
      `More connections are open than ${this.limit}: ${this.most}, of which ${this.share} without a login. ` +
        `The oldest without a login are closed, and idle ones with a login if more than ${this.share} have one.`,
    );
  }
}

function connectionOf(socket: Socket): Connection | undefined {
  return (tcpSocketOf(socket) as Watched)[CONNECTION];
}

/** Protects a request's connection from being closed while its login is verified. */
export async function whileProving<T>({ socket }: IncomingMessage, task: () => Promise<T>): Promise<T> {
  const connection = connectionOf(socket);
  if (connection === undefined) return task();
  connection.proving += 1;
  try {
    return await task();
  } finally {
    connection.proving -= 1;
  }
}

/** Assigns the connection of a request to this login until the answer has ended. Throws 429 `connections-busy`. */
export function takeConnection(
  { socket }: IncomingMessage,
  response: ServerResponse,
  username: string,
): void {
  const connection = connectionOf(socket);
  connection?.owner.take(connection, username, response);
}
