import type { Server, ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { onOrphaned } from './embedded/index.js';

const FINISH_MS = 10_000;
/** A client that keeps its connection and asks on would hold the stop up until then, so connections end with their request. */
const IDLE_MS = 100;
/** What goes on although no request does, such as waiting for a database that is frozen, is then left behind. */
const LEAVE_MS = FINISH_MS + 2_000;

/** npm passes on what the terminal has sent to the service already: that is no second Ctrl-C. */
const ONE_PRESS_MS = 1000;
/** As a shell says it of a program that Ctrl-C has ended. */
const INTERRUPTED = 130;

/** What is told of the stop, and to whom. */
interface Stop {
  say: (line: string) => void;
  /** Ends what would never end by itself. */
  endStreams: () => void;
  stopDatabase: () => Promise<void>;
}

/**
 * On SIGTERM or SIGINT, and when npm is gone, the service stops listening, finishes what runs (10 s at most), gives up
 * the lease and exits 0 (contract §5). Whoever presses Ctrl-C is told so, and ends it at once with another; else the log
 * is told. Answers whether that has begun.
 */
export function stopOnSignals(
  app: NestExpressApplication,
  { say, endStreams, stopDatabase }: Stop,
): () => boolean {
  const log = new Logger('Stop');
  const open = countRequests(app.getHttpServer());
  let begun: number | undefined;
  const stop = (tell: (line: string) => void, how: string, advice = '') => {
    if (begun !== undefined) return;
    begun = performance.now();
    endStreams();
    tell(`${how}${whatEndsFirst(open())}${advice}`);
    void stopInOrder(app, stopDatabase).then(
      () => {
        tell('Stopped.');
        process.exit(0);
      },
      (error: unknown) => {
        tell(`Stopped, but not in good order: ${(error as Error).message}`);
        process.exit(1);
      },
    );
  };
  const inLog = (how: string) => () => stop((line) => log.log(line), `Stopping ${how}`);
  process.on('SIGTERM', inLog('on SIGTERM')).on('SIGHUP', inLog('on SIGHUP'));
  onOrphaned(inLog('since npm is gone'));
  process.on('SIGINT', () => {
    if (begun !== undefined && performance.now() - begun > ONE_PRESS_MS) process.exit(INTERRUPTED);
    if (begun === undefined && process.stderr.isTTY) say('');
    stop(say, 'Stopping', ' Ctrl-C again ends at once.');
  });
  return () => begun !== undefined;
}

/** Such as `: 2 requests end first, 10 s at most.` */
function whatEndsFirst(open: number): string {
  if (open === 0) return '.';
  return `: ${open === 1 ? '1 request ends' : `${open} requests end`} first, ${FINISH_MS / 1000} s at most.`;
}

/** Tells how many requests have begun whose answers have not ended. */
function countRequests(server: Server): () => number {
  const open = new Set<ServerResponse>();
  server.prependListener('request', (_request, response: ServerResponse) => {
    open.add(response);
    response.once('close', () => open.delete(response));
  });
  return () => [...open].filter(({ writableEnded, destroyed }) => !writableEnded && !destroyed).length;
}

async function stopInOrder(app: NestExpressApplication, stopDatabase: () => Promise<void>): Promise<void> {
  const server = app.getHttpServer();
  server.prependListener('request', (_request, response: ServerResponse) =>
    response.setHeader('Connection', 'close'),
  );
  server.close();
  setInterval(() => server.closeIdleConnections(), IDLE_MS).unref();
  setTimeout(() => server.closeAllConnections(), FINISH_MS).unref();
  await closeInTime(app);
  await stopDatabase();
}

/** Everything that goes on in the service ends; resolves after 12 s also where something of it does not. */
export async function closeInTime(app: Pick<NestExpressApplication, 'close'>): Promise<void> {
  const tooLate = new Promise<void>((resolve) => setTimeout(resolve, LEAVE_MS).unref());
  await Promise.race([app.close(), tooLate]);
}
