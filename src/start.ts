import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer, isIPv6 } from 'node:net';
import { type INestApplication, Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FatalError, settledWithin, visible } from './platform/common/index.js';
import type { Settings } from './platform/config/index.js';
import type { Preparation } from './platform/database/index.js';
import { certificateFiles, loadCertificate } from './platform/http/index.js';
import type { MetricsPort } from './health/index.js';
import { onOrphaned } from './embedded/index.js';

/** What an operator must correct, by error code of the operating system. */
const WRONG_PART: Record<string, 'host' | 'port'> = {
  EADDRINUSE: 'port',
  EACCES: 'port',
  EADDRNOTAVAIL: 'host',
  EAFNOSUPPORT: 'host',
  EAI_AGAIN: 'host',
  EAI_FAIL: 'host',
  EINVAL: 'host',
  ENOTFOUND: 'host',
};

/**
 * A healthy database answers well within this time. A slow one gets more, unless an attempt has failed
 * (milliseconds).
 */
const USUAL_MS = 1000;
const SLOW_MS = 3000;

const FINISH_MS = 10_000;
/**
 * Interval at which idle connections are closed during a stop (milliseconds). A client that keeps sending requests on
 * its connection would otherwise delay the stop until `FINISH_MS`.
 */
const IDLE_MS = 100;
/** Time after which a stop abandons background work, such as a wait for a frozen database (milliseconds). */
const LEAVE_MS = FINISH_MS + 2_000;

/**
 * npm forwards a signal that the terminal has already sent to the service. Within this time a repeated signal does
 * not count as a second Ctrl-C (milliseconds).
 */
const ONE_PRESS_MS = 1000;
/** The exit code of a program that was ended by Ctrl-C. */
const INTERRUPTED = 130;

/** A line of a stack with a place in the program. */
const FRAME = /^ {4}at \S/;
/** A code of Node, of the operating system or of MongoDB. */
const CODE = /^(\d{1,6}|E[A-Z0-9_]{1,60})$/;

/** Without a listener, a message to a closed terminal or pipe would end the process. */
process.stderr.on('error', () => undefined);

/** Writes a message for the operator to stderr; stdout carries only the log. */
export function say(text: string): void {
  const lines = text.split('\n').map(visible);
  process.stderr.write(`${lines.join('\n')}\n`);
}

/**
 * What is printed about an error that nothing has caught. Its message and its properties may hold values of records, such
 * as those of fields that a service hides, so only its name, its code and the places in the program are printed.
 */
export function unexpected(error: unknown): string {
  if (!(error instanceof Error)) return 'Tidemark ends after an unexpected error: an error that has no stack';
  const { code, message, stack = '' } = error as Error & { code?: unknown };
  // The stack begins with the message, whose lines may look like places.
  const begin = stack.indexOf(message);
  const places = begin < 0 ? '' : stack.slice(begin + message.length);
  const name = `${error.constructor.name}${CODE.test(String(code)) ? ` (${String(code)})` : ''}`;
  return [
    `Tidemark ends after an unexpected error: ${name}`,
    ...places.split('\n').filter((line) => FRAME.test(line)),
  ].join('\n');
}

type MainAddress = Pick<Settings, 'host' | 'port'>;

type Addresses = MainAddress & Partial<Pick<Settings, 'metricsHost' | 'metricsPort'>>;

interface Address extends MainAddress {
  /** The settings that it comes from. */
  names: { host: string; port: string };
}

function mainAddress({ host, port }: MainAddress): Address {
  return { host, port, names: { host: 'HOST', port: 'PORT' } };
}

/** The address of METRICS_PORT; undefined without one. */
function addressApart({ host, metricsHost, metricsPort }: Addresses): Address | undefined {
  if (metricsPort === undefined) return undefined;
  const names = { host: metricsHost === undefined ? 'HOST' : 'METRICS_HOST', port: 'METRICS_PORT' };
  return { host: metricsHost ?? host, port: metricsPort, names };
}

/**
 * Opens the port, and METRICS_PORT if it is set. Returns the number of METRICS_PORT. If an address is not available,
 * throws a FatalError that names the setting. Closes the application before that, so that it logs no errors when the
 * embedded database stops.
 */
export async function listen(
  app: Pick<INestApplication, 'listen' | 'close'>,
  addresses: Addresses,
  apart?: Pick<MetricsPort, 'listen'>,
): Promise<number | undefined> {
  const other = addressApart(addresses);
  try {
    await app.listen(addresses.port, addresses.host).catch(clearly(mainAddress(addresses)));
    return other && (await apart?.listen(other.port, other.host).catch(clearly(other)));
  } catch (error) {
    await closeInTime(app);
    throw error;
  }
}

/** Throws a ConfigError if the files for TLS cannot be used, before anything else starts. */
export function assertCertificate(settings: Settings): void {
  const files = certificateFiles(settings);
  if (files !== undefined) loadCertificate(files);
}

/** The URL of the service, as it is shown to the operator. */
export function baseUrlOf({ tlsCert, host }: Pick<Settings, 'tlsCert' | 'host'>, port: number): string {
  return `${tlsCert === undefined ? 'http' : 'https'}://${inUrl(host)}:${port}`;
}

/** The URL of METRICS_PORT, which has opened under this number. */
export function urlApart(
  { metricsHost, host }: Pick<Settings, 'metricsHost' | 'host'>,
  port: number,
): string {
  return `http://${inUrl(metricsHost ?? host)}:${port}`;
}

const inUrl = (host: string) => (isIPv6(host) ? `[${host}]` : host);

/** Throws the same error as {@link listen} before anything else starts, because a database may take long to start. */
export async function assertCanListen(addresses: Addresses): Promise<void> {
  await tryAddress(mainAddress(addresses));
  const apart = addressApart(addresses);
  if (apart !== undefined) await tryAddress(apart);
}

async function tryAddress(address: Address): Promise<void> {
  const server = createServer().listen(address.port, address.host);
  await once(server, 'listening').catch(clearly(address));
  server.close();
  await once(server, 'close');
}

/**
 * Reports that the database does not answer, and later that it does. Resolves after three seconds at most, because the
 * port is open already. Throws an error that ends the start.
 */
export async function reportDatabase(
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

/** The effects of a stop. */
interface Stop {
  say: (line: string) => void;
  /** Reports to probes that this instance is not ready. */
  beUnready: () => void;
  /** Ends the event streams, which otherwise never end. */
  endStreams: () => void;
  stopDatabase: () => Promise<void>;
}

/**
 * On SIGTERM, SIGINT or SIGHUP, and when npm has exited, the service stops listening, finishes running requests (10 s
 * at most), releases the lease and exits with 0 (contract §5), or with 1 if an error prevents that. After Ctrl-C it
 * reports on stderr, and a second Ctrl-C ends it at once. After another signal it reports in the log. Returns a
 * function that reports whether the stop has begun.
 */
export function stopOnSignals(
  app: NestExpressApplication,
  { say, beUnready, endStreams, stopDatabase }: Stop,
): () => boolean {
  const log = new Logger('Stop');
  const open = countRequests(app.getHttpServer());
  let begun: number | undefined;
  const stop = (log: (line: string) => void, how: string, advice = '') => {
    if (begun !== undefined) return;
    begun = performance.now();
    beUnready();
    endStreams();
    log(`${how}${whatEndsFirst(open())}${advice}`);
    void stopInOrder(app, stopDatabase).then(
      () => {
        log('Stopped.');
        process.exit(0);
      },
      (error: unknown) => {
        log(`Stopped, but not in good order: ${(error as Error).message}`);
        process.exit(1);
      },
    );
  };
  const inLog = (how: string) => () => stop((line) => log.log(line), `Stopping ${how}`);
  process.on('SIGTERM', inLog('on SIGTERM')).on('SIGHUP', inLog('on SIGHUP'));
  onOrphaned(inLog('because npm has exited'));
  process.on('SIGINT', () => {
    if (begun !== undefined && performance.now() - begun > ONE_PRESS_MS) process.exit(INTERRUPTED);
    if (begun === undefined && process.stderr.isTTY) say('');
    stop(say, 'Stopping', ' Ctrl-C again ends at once.');
  });
  return () => begun !== undefined;
}

function clearly({ host, port, names }: Address): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    const part = WRONG_PART[code ?? ''];
    if (part === undefined) throw error;
    const example = {
      host: `${names.host} to an address of this machine, such as 127.0.0.1 or 0.0.0.0`,
      port: `${names.port} to a port that is free and allowed`,
    };
    throw new FatalError(
      `${names.host} "${host}" with ${names.port} ${port} cannot be used: ${message}. Set ${example[part]}.`,
    );
  };
}

/** Such as `: 2 requests end first, 10 s at most.` */
function whatEndsFirst(open: number): string {
  if (open === 0) return '.';
  return `: ${open === 1 ? '1 request ends' : `${open} requests end`} first, ${FINISH_MS / 1000} s at most.`;
}

/** Counts the requests whose answers have not ended. */
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

/** Closes the application; resolves after 12 s even if something in it does not end. */
async function closeInTime(app: Pick<NestExpressApplication, 'close'>): Promise<void> {
  const tooLate = new Promise<void>((resolve) => setTimeout(resolve, LEAVE_MS).unref());
  await Promise.race([app.close(), tooLate]);
}
