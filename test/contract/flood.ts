import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TestService } from '../support/index.js';

/** Connections that send something and read nothing. For each one that the service closes another is opened. */
export class Flood {
  /** Milliseconds: soon enough that there are always more connections than the service lets be. */
  private static readonly AGAIN_MS = 5;
  private readonly server: Server;
  /** By the port of its end here. A connection that reads nothing does not notice that it is closed, so the other end is watched. */
  private readonly open = new Map<number, Socket>();
  private readonly all = new Set<Socket>();
  private isOver = false;
  replaced = 0;

  constructor(
    private readonly of: TestService,
    private readonly sent: string,
  ) {
    this.server = of.app.getHttpServer().on('connection', this.accepted);
  }

  async begin(connections: number): Promise<void> {
    for (let count = 0; count < connections; count += 1) await this.another();
  }

  private async another(): Promise<void> {
    const { port, hostname } = new URL(this.of.url);
    const socket = connect(Number(port), hostname).pause();
    this.all.add(socket);
    socket.on('error', () => undefined).once('close', () => this.all.delete(socket));
    socket.write(this.sent);
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    this.open.set(socket.localPort!, socket);
  }

  private readonly accepted = (end: Socket) => {
    const port = end.remotePort!;
    end.once('close', () => this.closed(port));
  };

  private closed(port: number): void {
    const socket = this.open.get(port);
    if (this.isOver || socket === undefined) return;
    this.open.delete(port);
    socket.destroy();
    this.replaced += 1;
    setTimeout(() => void (this.isOver || this.another()), Flood.AGAIN_MS);
  }

  end(): void {
    this.isOver = true;
    this.server.off('connection', this.accepted);
    for (const socket of this.all) socket.destroy();
  }
}
