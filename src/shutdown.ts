import type { ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { onOrphaned } from './embedded/index.js';

const FINISH_MS = 10_000;
/** A client that keeps its connection and asks on would hold the stop up until then, so connections end with their request. */
const IDLE_MS = 100;
/** What goes on although no request does, such as waiting for a database that is frozen, is then left behind. */
const LEAVE_MS = FINISH_MS + 2_000;

/**
 * On SIGTERM or SIGINT, and when npm is gone, the service stops listening, finishes what runs (10 s at most), gives up
 * the lease and exits 0 (contract §5). Answers whether that has begun.
 */
export function stopOnSignals(app: NestExpressApplication, stopDatabase: () => Promise<void>): () => boolean {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    void stopInOrder(app, stopDatabase).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', stop);
  onOrphaned(stop);
  return () => stopping;
}

async function stopInOrder(app: NestExpressApplication, stopDatabase: () => Promise<void>): Promise<void> {
  const server = app.getHttpServer();
  server.prependListener('request', (_request, response: ServerResponse) =>
    response.setHeader('Connection', 'close'),
  );
  server.close();
  setInterval(() => server.closeIdleConnections(), IDLE_MS).unref();
  setTimeout(() => server.closeAllConnections(), FINISH_MS).unref();
  const tooLate = new Promise<void>((resolve) => setTimeout(resolve, LEAVE_MS).unref());
  await Promise.race([app.close(), tooLate]);
  await stopDatabase();
}
