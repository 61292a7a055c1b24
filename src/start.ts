import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { type INestApplication, Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FatalError, settledWithin, visible } from './common/index.js';
import type { Settings } from './config/index.js';
import type { Preparation } from './database/index.js';
import { onOrphaned } from './embedded/index.js';

/** What an operator has to repair, by the error code of the operating system. */
const WRONG_SETTING: Record<string, keyof typeof ADVICE> = {
  EADDRINUSE: 'port',
  EACCES: 'port',
  EADDRNOTAVAIL: 'host',
  EAFNOSUPPORT: 'host',
  EAI_AGAIN: 'host',
  EAI_FAIL: 'host',
  EINVAL: 'host',
  ENOTFOUND: 'host',
};

const ADVICE = {
  host: 'Set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0.',
  port: 'Set PORT to a port that is free and allowed.',
};

/** One that works has answered long before; a slow one is given more time, unless it is known that it fails (milliseconds). */
const USUAL_MS = 1000;
const SLOW_MS = 3000;

const FINISH_MS = 10_000;
/** A client that keeps its connection and asks on would hold the stop up until then, so connections end with their request. */
const IDLE_MS = 100;
/** What goes on although no request does, such as waiting for a database that is frozen, is then left behind. */
const LEAVE_MS = FINISH_MS + 2_000;

/** npm passes on what the terminal has sent to the service already: that is no second Ctrl-C. */
const ONE_PRESS_MS = 1000;
/** As a shell says it of a program that Ctrl-C has ended. */
const INTERRUPTED = 130;

/** A closed terminal or pipe receives no further messages. */
process.stderr.on('error', () => undefined);

/** Tells the person who started the service something, on stderr: stdout is the log's alone. */
export function say(text: string): void {
  const lines = text.split('\n').map(visible);
  process.stderr.write(`${lines.join('\n')}\n`);
}

/**
 * Sets V8 up for a service whose memory comes and goes as large buffers beside a small heap that hardly changes.
 *
 * V8 counts the buffers as part of the heap, which soon may grow by a few dozen megabytes only until all of it is gone
 * through. A harvest fills those many times a second. The cheap collections of young objects would free the buffers, but
 * each full one empties the young part, so that they come too late again: a service that gets there stays there, at twice
 * the CPU for a page. Where the heap may double between two full collections, it does not get there.
 */
export function setUpHeap(): void {
  setFlagsFromString('--heap-growing-percent=100');
}

type Address = Pick<Settings, 'host' | 'port'>;

/**
 * Opens the port. Where HOST or PORT cannot be had, it closes what the application has begun, so that nothing complains
 * of a database that ends next, and throws a FatalError that names the setting.
 */
export async function listen(
  app: Pick<INestApplication, 'listen' | 'close'>,
  address: Address,
): Promise<void> {
  try {
    await app.listen(address.port, address.host);
  } catch (error) {
    await closeInTime(app);
    clearly(address)(error);
  }
}

/** Throws the same before anything else is begun: a database that takes long to come up would come up for nothing. */
export async function assertCanListen(address: Address): Promise<void> {
  const server = createServer().listen(address.port, address.host);
  await once(server, 'listening').catch(clearly(address));
  server.close();
  await once(server, 'close');
}

/**
 * Says so where the database does not answer by now, and once it does. Answers after three seconds at most: the
 * service, whose port is open already, is not held up by it. Throws what ends the start.
 */
export async function tellOfDatabase(
  preparation: Pick<Preparation, 'answered' | 'done' | 'failure' | 'trouble' | 'hosts'>,
  say: (line: string) => void,
): Promise<void> {
  const { answered, done } = preparation;
  const isSettled = Promise.race([answered, done]).then(() => true);
  if (await settledWithin(isSettled, USUAL_MS)) return;
  if (preparation.failure === undefined && (await settledWithin(isSettled, SLOW_MS - USUAL_MS))) return;
  say(
    `The database at ${preparation.hosts} does not answer (MONGODB_URI): ${preparation.trouble}. ` +
      'Waiting for it; requests are answered 503 meanwhile.',
  );
  void answered.then(() => say('The database answers.'));
}

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

function clearly({ host, port }: Address): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    const setting = WRONG_SETTING[code ?? ''];
    if (setting === undefined) throw error;
    throw new FatalError(
      `HOST "${host}" with PORT ${port} cannot be listened at: ${message}. ${ADVICE[setting]}`,
    );
  };
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
async function closeInTime(app: Pick<NestExpressApplication, 'close'>): Promise<void> {
  const tooLate = new Promise<void>((resolve) => setTimeout(resolve, LEAVE_MS).unref());
  await Promise.race([app.close(), tooLate]);
}
