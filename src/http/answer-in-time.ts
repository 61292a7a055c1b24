import { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { answerProblem } from './answer.js';
import { problems } from './problems.js';

/**
 * Where an answer has its countdown. No WeakMap: to V8's quick collections what such a map leads to is in use, until a full
 * one finds that it is not, and every request would live so long.
 */
const COUNTDOWN = Symbol('countdown');

const node = ServerResponse.prototype;

const LISTENED = Symbol('listened to');

const WAITING = Symbol('waiting');

/** How long a request waits for its answer, and how many do at a time. */
export interface Patience {
  ms: number;
  requests: number;
  /** Routes that answer by themselves whatever the database does, and are never turned away. */
  isExempt: (path: string) => boolean;
}

type Timed = ServerResponse & { [COUNTDOWN]?: Countdown };

/**
 * Express middleware: every answer has begun in time, whatever the database does. Where its handler has not come to one
 * by then it is 503 `database-away`, and the work of the handler is abandoned; if as many requests wait already
 * as may, it is 503 `busy` at once. A request waits until its handler answers or takes over (see {@link handOver}), even if
 * its client is gone: what it has begun goes on.
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

/** Does not count the time of a task, which the client's own speed decides. */
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
 * From here on the handler itself begins its answer in time: resolves when that time has come, instead of the 503. The request
 * no longer counts as one that waits; the handler has a limit of its own for how many there are.
 */
export function handOver(response: Timed): Promise<void> {
  return new Promise((resolve) => response[COUNTDOWN]?.whenOver(resolve));
}

type Awaited = ServerResponse & { [WAITING]?: (() => void)[] | undefined };

/**
 * Calls back once, when the headers of an answer are about to be sent, or an answer is ended that nobody waits for: Node
 * writes no head for one whose client is gone.
 */
export function beforeAnswer(response: Awaited, then: () => void): void {
  const others = response[WAITING];
  if (others !== undefined) others.push(then);
  else {
    response[WAITING] = [then];
    listenTo(Object.getPrototypeOf(response) as ServerResponse);
  }
}

/** Called whenever the time begins to run, and whenever it is paused or over. */
interface Watching {
  begun: () => void;
  ended: () => void;
}

/** A time that runs out once, and may be paused. */
class Countdown {
  private left: number;
  private begunAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private isEnded = false;

  /** Milliseconds, and what is done when they are over. */
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

  /** Calls `over` in place of what was given, and `watching` no more: the time counts as ended now. */
  whenOver(over: () => void): void {
    this.over = over;
    if (this.timer !== undefined) this.watching?.ended();
    this.watching = undefined;
  }
}

/** All answers of an Express application have a prototype of their own: listened to once, no answer pays for it. */
function listenTo(answers: ServerResponse): void {
  if (answers === node || Object.hasOwn(answers, LISTENED)) return;
  Object.assign(answers, {
    [LISTENED]: true,
    writeHead(this: ServerResponse, ...args: Parameters<ServerResponse['writeHead']>) {
      tell(this);
      return node.writeHead.apply(this, args);
    },
    end(this: ServerResponse, ...args: Parameters<ServerResponse['end']>) {
      tell(this);
      return node.end.apply(this, args);
    },
  });
}

function tell(response: Awaited): void {
  const told = response[WAITING];
  if (told === undefined) return;
  response[WAITING] = undefined;
  for (const then of told) then();
}
