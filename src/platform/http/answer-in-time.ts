import { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { answerProblem } from './answer.js';
import { problems } from './problems.js';

/**
 * The property of an answer that holds its countdown. A WeakMap is avoided: V8's quick collections treat its values
 * as live, so the data of every request would survive until the next full collection.
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

type Awaited = ServerResponse & { [WAITING]?: (() => void)[] | undefined };

/**
 * Calls back once, before the headers of an answer are sent or before an answer without headers ends. Node writes no
 * headers if the client has disconnected.
 */
export function beforeAnswer(response: Awaited, then: () => void): void {
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
   * Replaces the callback for the end of the time, and ends the notifications of `watching`: for those, the time
   * counts as over.
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

function runCallbacks(response: Awaited): void {
  const callbacks = response[WAITING];
  if (callbacks === undefined) return;
  response[WAITING] = undefined;
  for (const then of callbacks) then();
}
