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

const LINGER_MS = 5000;
const LONGEST_SHOWN = 80;

/** As Node has it, which answers so itself where nothing listens. */
interface Answering {
  _httpMessage?: ServerResponse | null;
}

/**
 * For `clientError` of the HTTP server: answers in the form of contract §3 what never becomes a request, since Node
 * itself cannot read it. The connection ends with the answer, and without one where another has begun on it.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex & Answering): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const problem = problemOf(error);
  const requestId = randomUUID();
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
  // Closed at once, the answer could be lost to a client that is still sending.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** For `checkExpectation` of the HTTP server: an `Expect` with anything but `100-continue`. The connection ends with the answer. */
export function refuseExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  const requestId = randomUUID();
  const problem = new Problem(
    417,
    'expectation-failed',
    'The expectation cannot be met',
    `Expect: ${String(headers.expect).slice(0, LONGEST_SHOWN)} is not supported. Leave it out, or send 100-continue.`,
  );
  const body = answerText(problem.body(requestId));
  response.writeHead(problem.status, {
    'Content-Length': Buffer.byteLength(body),
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Cache-Control': 'private, no-cache',
    'X-Request-Id': requestId,
    Connection: 'close',
  });
  response.end(body);
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
  return problems.malformedRequest('What was sent is no valid HTTP/1.1 request.');
}

/** The share of all connections that those without a login may have, and that idle ones with a login may have. */
const SHARE = 3 / 4;

/** The log says it once in this time (milliseconds). */
const LOGGED_EVERY_MS = 60_000;

/** The share of all connections on which one credential may have requests under way, where no number is given. */
const SHARE_OF_CREDENTIAL = 1 / 4;

interface Connection {
  socket: Socket;
  /** Whose request was let in on it since it was idle last. It counts as idle without one. */
  holder?: string | undefined;
  /** Requests of a login that were let in and whose answers have not ended. */
  open: number;
  /** Requests whose login is being compared. */
  proving: number;
  /** What came right behind its opening has been read by now. */
  isRipe: boolean;
  owner: Connections;
}

const CONNECTION = Symbol('connection');

type Watched = Socket & { [CONNECTION]?: Connection };

/**
 * Bounds the connections of a server, so that it never runs out of file descriptors: an operating system that is asked for
 * one too many resets connections without a sign. A connection belongs to a stranger until a login is let in on it.
 *
 * - Beyond the limits a stranger is closed: of those that have sent no request yet and those that have, the larger group
 *   loses its oldest, whatever it has under way. By age, since everything else is for strangers to choose: what they send,
 *   how slowly, and whether they read. In two groups, so that neither kind of flood closes the connections of the other.
 *   Those whose login is being compared are not closed, since they wait for this service; how many these are is limited
 *   elsewhere. Nor are those whose first bytes could not be read yet: where all came at once, the newest is closed.
 * - A connection with a login is closed for another one with a login only, and only while no request of a login is under way
 *   on it. So idle ones leave a quarter of all to new connections.
 * - A credential has requests under way on a quarter of all connections at most, or on the number that is set, so that it
 *   cannot take those of all others.
 */
export class Connections {
  /** Strangers that have sent no request yet; the oldest first. */
  private readonly silent = new Set<Connection>();
  /** Strangers that have sent one; the oldest request first. */
  private readonly asking = new Set<Connection>();
  /** In the order of their last use. */
  private readonly known = new Set<Connection>();
  private readonly ofCredential = new Map<string, number>();
  private readonly share: number;
  private readonly mostOfCredential: number;
  private loggedAt = -Infinity;

  constructor(
    private readonly most: number,
    private readonly tell: (line: string) => void,
    ofCredential = 0,
  ) {
    this.share = Math.max(1, Math.floor(most * SHARE));
    this.mostOfCredential = ofCredential || Math.max(1, Math.floor(most * SHARE_OF_CREDENTIAL));
  }

  /** Before the server listens. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.opened(socket));
    server.prependListener('request', ({ socket }) => this.asked(socket));
  }

  /**
   * The request is of this login until its answer has ended. Throws 429 `connections-busy` where this user name has requests
   * under way on as many connections as it may; the connection ends with that answer.
   */
  take(connection: Connection, username: string, response: ServerResponse): void {
    if (connection.socket.destroyed) return;
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
    // The second is behind the next look at what has come in.
    setImmediate(() => setImmediate(() => (connection.isRipe = true)));
    socket.once('close', () => this.forget(connection));
    if (this.isOver()) this.end(this.strangerToClose() ?? connection);
  }

  private asked(socket: Watched): void {
    const connection = socket[CONNECTION];
    if (connection !== undefined && this.silent.delete(connection)) this.asking.add(connection);
  }

  private answered(connection: Connection): void {
    connection.open -= 1;
    if (connection.open > 0) return;
    this.release(connection);
    if (this.known.has(connection)) this.used(connection);
  }

  private isOver(): boolean {
    const strangers = this.silent.size + this.asking.size;
    return strangers > this.share || strangers + this.known.size > this.most;
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

  /** It is the last one that was used. */
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
    this.tell(
      `More connections are open than MAX_CONNECTIONS allows: ${this.most}, of which ${this.share} without a login. ` +
        'The oldest without a login are closed, and idle ones with a login where those alone are too many.',
    );
  }
}

/** Does not close the connection of a request while the service finds out whose it is. */
export async function whileProving<T>({ socket }: IncomingMessage, task: () => Promise<T>): Promise<T> {
  const connection = (socket as Watched)[CONNECTION];
  if (connection === undefined) return task();
  connection.proving += 1;
  try {
    return await task();
  } finally {
    connection.proving -= 1;
  }
}

/** The connection of a request is of this login until the answer has ended. Throws 429 `connections-busy`. */
export function takeConnection(
  { socket }: IncomingMessage,
  response: ServerResponse,
  username: string,
): void {
  const connection = (socket as Watched)[CONNECTION];
  connection?.owner.take(connection, username, response);
}
