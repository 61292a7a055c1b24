import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { beforeAnswer } from './before-answer.js';
import { Countdown } from './countdown.js';
import { answerProblem } from './problem-answer.js';
import { problems } from './problems.js';

/** How long a request waits for its answer, and how many do at a time. */
export interface Patience {
  ms: number;
  requests: number;
  /** Routes that answer by themselves whatever the database does, and are never turned away. */
  isExempt: (path: string) => boolean;
}

/**
 * Where an answer has its countdown. No WeakMap: to V8's quick collections what such a map leads to is in use, until a full
 * one finds that it is not, and every request would live so long.
 */
const COUNTDOWN = Symbol('countdown');

type Timed = ServerResponse & { [COUNTDOWN]?: Countdown };

/**
 * Express middleware: every answer has begun in time, whatever the database does. Where its handler has not come to one
 * by then it is 503 `database-away`, and what the handler waits for is left behind; where as many requests wait already
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
