import { hash } from 'node:crypto';
import { ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { Request, Response, NextFunction } from 'express';
import { Problem } from './problem.js';
import { problems } from './problems.js';

const answered = new WeakMap<Response, Problem>();

const JSON_TYPE = 'application/json; charset=utf-8';

const CHARACTERS = 27;

/** Most answers depend on the caller's credentials, so shared caches must not store them. */
export const UNSHARED = 'private, no-cache';

/** The problem that was sent as the response, if any. */
export function answeredProblem(response: Response): Problem | undefined {
  return answered.get(response);
}

/** Requests with these methods change nothing, so that they can be repeated. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The problem that a request with this method receives. If the database is away, the answer to a request that may
 * change something says that the outcome is unknown.
 */
export function problemTo(method: string, given: Problem): Problem {
  const isAway = given.slug === 'database-away' && given.extras.notice === undefined;
  return isAway && !READING.has(method) ? outcomeUnknown(given) : given;
}

/** Sends a problem, in the form of contract §3. */
export function answerProblem(request: Request, response: Response, given: Problem): void {
  const problem = problemTo(request.method, given);
  answered.set(response, problem);
  for (const [name, value] of Object.entries(problem.extras.headers ?? {})) response.setHeader(name, value);
  response
    .status(problem.status)
    .type('application/problem+json')
    .send(answerText(problem.body(request.id, request.traceId)));
}

/** The same problem for a request that may change something. */
function outcomeUnknown({ title, extras }: Problem): Problem {
  const detail =
    'The database does not answer, or has not confirmed a change. If the request changes something, the change may ' +
    'have been made: check this before you repeat the request.';
  return new Problem(503, 'database-away', title, detail, extras);
}

/** Answers 200 with a JSON text, or 304 if the client's `If-None-Match` matches the `ETag` of the answer. */
export function sendJson(response: Response, json: string, type = JSON_TYPE): void {
  if (response.req.fresh) {
    response.status(304).end();
    return;
  }
  sendWhole(response, json, type);
}

/** Answers 200 with a JSON text that shows more than what its `ETag` covers, so that it is never 304. */
export function sendWhole(response: Response, json: string, type = JSON_TYPE): void {
  const text = endedLine(json);
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** The JSON text of an answer. It ends with a line break, so that a shell prompt starts on a new line. */
export function answerText(value: unknown): string {
  return endedLine(JSON.stringify(value));
}

/** A strong entity tag: a digest of these bytes. */
export function etagOf(raw: Uint8Array): string {
  return `"${hash('sha256', raw, 'base64url').slice(0, CHARACTERS)}"`;
}

/**
 * Sets the entity tag of an answer, and tells proxies not to transform the answer: a proxy that compresses it makes
 * the tag a weak one, which matches no `If-Match`. nginx ignores `no-transform`.
 */
export function tag(response: ServerResponse, etag: string): void {
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', `${UNSHARED}, no-transform`);
}

/** Whether `If-Match` allows a write to a resource with this entity tag. Weak tags never match (RFC 9110 §13.1.1). */
export function allows(ifMatch: string | undefined, etag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  const tags: string[] = ifMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.includes(etag);
}

/** The content of one path. */
interface ServedBytes {
  /** With the dot, such as `.css`. */
  type: string;
  /** Called for the first request. */
  read: () => Uint8Array | string;
  cacheControl?: string;
}

/**
 * Serves constant bytes from memory under exactly one path. A static folder would accept other spellings of its
 * paths, and would hold a file descriptor for each answer that the client does not read.
 */
export function serveBytes(app: INestApplication, path: string, served: ServedBytes): void {
  const { type, read, cacheControl = UNSHARED } = served;
  let known: { bytes: Buffer; etag: string } | undefined;
  app.getHttpAdapter().get(path, (_request: Request, response: Response) => {
    known ??= withTag(Buffer.from(read()));
    response.set({ ETag: known.etag, 'Cache-Control': cacheControl }).type(type).send(known.bytes);
  });
}

function endedLine(json: string): string {
  return `${json}\n`;
}

function withTag(bytes: Buffer): { bytes: Buffer; etag: string } {
  return { bytes, etag: etagOf(bytes) };
}

/**
 * The property of an answer that holds its countdown. A WeakMap is avoided: V8's minor garbage collections treat its
 * values as live, so the data of every request would survive until the next major one.
 */
const COUNTDOWN = Symbol('countdown');

const node = ServerResponse.prototype;

const LISTENED = Symbol('listened to');

const WAITING = Symbol('waiting');

/** How long a request waits for its answer, and how many requests may wait at a time. */
export interface Patience {
  ms: number;
  requests: number;
  /** Paths that answer without the database. They have no time limit and are never refused. */
  isExempt: (path: string) => boolean;
}

type Timed = ServerResponse & { [COUNTDOWN]?: Countdown };

/**
 * Express middleware: every answer begins in time, even if the database does not respond. On timeout the answer is
 * 503 `database-away`, and the handler's work is abandoned. If the queue is full, the answer is 503 `busy` at once. A
 * request counts as waiting until its handler answers or takes over (see {@link handOver}), even if its client has
 * disconnected, because its work continues.
 */
export function answerInTime({ ms, requests, isExempt }: Patience) {
  let waiting = 0;
  return (request: Request, response: Response & Timed, next: NextFunction): void => {
    if (isExempt(request.path)) return next();
    if (waiting >= requests) return answerProblem(request, response, problems.busy());
    const countdown = new Countdown(ms, () => answerProblem(request, response, problems.databaseAway()), {
      begun: () => (waiting += 1),
      ended: () => (waiting -= 1),
    });
    response[COUNTDOWN] = countdown;
    beforeAnswer(response, () => countdown.end());
    countdown.go();
    next();
  };
}

/** Pauses the countdown during a task whose duration depends on the client's speed. */
export async function whileReceiving<T>(response: Timed, task: () => Promise<T>): Promise<T> {
  const countdown = response[COUNTDOWN];
  countdown?.pause();
  try {
    return await task();
  } finally {
    countdown?.go();
  }
}

/**
 * Makes the handler responsible for answering in time. The promise resolves when the time is over, instead of the
 * 503. The request no longer counts as waiting; the handler must limit the number of such requests itself.
 */
export function handOver(response: Timed): Promise<void> {
  return new Promise((resolve) => response[COUNTDOWN]?.whenOver(resolve));
}

type WithCallbacks = ServerResponse & { [WAITING]?: (() => void)[] | undefined };

/**
 * Calls back once, before the headers of an answer are sent or before an answer without headers ends. Node writes no
 * headers if the client has disconnected.
 */
export function beforeAnswer(response: WithCallbacks, then: () => void): void {
  const others = response[WAITING];
  if (others !== undefined) others.push(then);
  else {
    response[WAITING] = [then];
    listenTo(Object.getPrototypeOf(response) as ServerResponse);
  }
}

/** Called when the time starts to run, and when it is paused or over. */
interface Watching {
  begun: () => void;
  ended: () => void;
}

/** A countdown that expires once and can be paused. */
class Countdown {
  private left: number;
  private begunAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private isEnded = false;

  /** The time in milliseconds, and the callback for its end. */
  constructor(
    ms: number,
    private over: () => void,
    private watching: Watching | undefined,
  ) {
    this.left = ms;
  }

  go(): void {
    if (this.isEnded || this.timer !== undefined) return;
    this.begunAt = performance.now();
    this.timer = setTimeout(() => {
      this.end();
      this.over();
    }, this.left).unref();
    this.watching?.begun();
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.left -= performance.now() - this.begunAt;
    this.watching?.ended();
  }

  end(): void {
    this.isEnded = true;
    this.pause();
  }

  /**
   * Replaces the callback for the end of the time. If the time is running, `watching.ended` is called now; `watching`
   * is not called after that.
   */
  whenOver(over: () => void): void {
    this.over = over;
    if (this.timer !== undefined) this.watching?.ended();
    this.watching = undefined;
  }
}

/**
 * Patches the prototype that all answers of an Express application share, so that individual answers need no
 * listener.
 */
function listenTo(answers: ServerResponse): void {
  if (answers === node || Object.hasOwn(answers, LISTENED)) return;
  Object.assign(answers, {
    [LISTENED]: true,
    writeHead(this: ServerResponse, ...args: Parameters<ServerResponse['writeHead']>) {
      runCallbacks(this);
      return node.writeHead.apply(this, args);
    },
    end(this: ServerResponse, ...args: Parameters<ServerResponse['end']>) {
      runCallbacks(this);
      return node.end.apply(this, args);
    },
  });
}

function runCallbacks(response: WithCallbacks): void {
  const callbacks = response[WAITING];
  if (callbacks === undefined) return;
  response[WAITING] = undefined;
  for (const then of callbacks) then();
}
