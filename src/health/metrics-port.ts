import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

/** Requests that are still running when all else has stopped have this long (milliseconds). */
const LAST_MS = 1000;

/**
 * The port of its own for health checks and metrics (`METRICS_PORT`). It outlives the main port: while a stop waits for
 * running requests, probes see an instance that is alive and not ready.
 */
@Injectable()
export class MetricsPort implements OnApplicationShutdown {
  private server: Server | undefined;

  /** The server for this port, which does not listen yet. Without one there is no such port. */
  use(server: Server): void {
    this.server = server;
  }

  /** Opens the port, and returns its number. */
  async listen(port: number, host: string): Promise<number> {
    if (this.server === undefined) throw new Error('There is no server for METRICS_PORT.');
    await once(this.server.listen(port, host), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async onApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (server?.listening !== true) return;
    const tooLate = setTimeout(() => server.closeAllConnections(), LAST_MS);
    await new Promise((resolve) => server.close(resolve));
    clearTimeout(tooLate);
  }
}
