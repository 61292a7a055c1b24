import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { eventually } from './eventually.js';

const HOST = '127.0.0.1';
/** Longer than any test. */
const HELD_MS = 600_000;

/** A way to the database that a test can shut and open: behind a shut one, the database is away. */
export class Gate {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private isHeld: (request: Buffer) => boolean = () => false;
  private held = 0;
  private isUnanswered: (request: Buffer) => boolean = () => false;

  private constructor(
    private readonly target: URL,
    private port: number,
  ) {}

  /** A gate to the server of a connection string, shut. */
  static async to(uri: string): Promise<Gate> {
    const gate = new Gate(new URL(uri), 0);
    await gate.open();
    await gate.shut();
    return gate;
  }

  /** The connection string that leads through the gate. */
  get uri(): string {
    const { username, password, pathname, searchParams } = this.target;
    const source = searchParams.get('authSource');
    const [login, end] = source === null ? ['', ''] : [`${username}:${password}@`, `&authSource=${source}`];
    return `mongodb://${login}${HOST}:${this.port}${pathname}?directConnection=true${end}`;
  }

  async open(): Promise<void> {
    this.server = createServer((socket) => this.lead(socket)).listen(this.port, HOST);
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Cuts every connection; new ones are let through. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Requests of which this is true come no further until `release`, nor does what follows them on their connection. */
  hold(isHeld: (request: Buffer) => boolean): void {
    this.isHeld = isHeld;
  }

  /** Passes on the requests that match, and no answer on their connections from then on. */
  silence(isUnanswered: (request: Buffer) => boolean): void {
    this.isUnanswered = isUnanswered;
  }

  /** How many connections are held up. */
  get holding(): number {
    return this.held;
  }

  /** What was held up comes through, late. */
  release(): void {
    this.isHeld = () => false;
  }

  /** Cuts every connection; new ones are refused. */
  async shut(): Promise<void> {
    const server = this.server;
    if (server === undefined) return;
    this.server = undefined;
    const closed = once(server, 'close');
    server.close();
    this.cut();
    await closed;
  }

  private lead(socket: Socket): void {
    const onwards = connect(Number(this.target.port), this.target.hostname);
    for (const [from, to] of [
      [socket, onwards],
      [onwards, socket],
    ] as const) {
      this.sockets.add(from);
      from
        .on('error', () => undefined)
        .on('close', () => {
          this.sockets.delete(from);
          to.destroy();
        });
    }
    const silence = () => void onwards.unpipe(socket).resume();
    socket.pipe(this.requests(socket, silence)).pipe(onwards);
    onwards.pipe(socket);
  }

  private requests(from: Socket, silence: () => void): Transform {
    const pass = async (request: Buffer) => {
      if (this.isUnanswered(request)) silence();
      if (!this.isHeld(request)) return request;
      this.held += 1;
      await eventually(() => from.destroyed || !this.isHeld(request), HELD_MS).finally(
        () => (this.held -= 1),
      );
      return request;
    };
    return new Transform({
      transform(request: Buffer, _encoding, done) {
        pass(request).then((passed) => done(null, passed), done);
      },
    });
  }
}
