import type { NextFunction, Request, Response } from 'express';
import { answerProblem } from './problem-answer.js';
import { problems } from './problems.js';

/** The absolute form that clients of a proxy send (RFC 9112 §3.2.2), up to its path. */
const ORIGIN = /^https?:\/\/[^/?#\\]+(?=[/?]|$)/i;
const DOT_SEGMENT = /^[^?]*\/(\.|%2e){1,2}(\/|\?|$)/i;

/**
 * Express middleware: routes see the path as it was sent, and in one form. Express itself takes a fragment off, and turns a
 * backslash of an absolute URL into a slash, so that a proxy's rule for a path could be passed by writing it so.
 */
export function readPlainTarget(request: Request, response: Response, next: NextFunction): void {
  const { url } = request;
  if (url.startsWith('/')) {
    if (url.includes('#')) return answerProblem(request, response, unreadable('holds a fragment'));
  } else {
    const origin = ORIGIN.exec(url)?.[0];
    if (origin === undefined || url.includes('#'))
      return answerProblem(request, response, unreadable('is no path'));
    const path = url.slice(origin.length);
    request.url = request.originalUrl = path.startsWith('/') ? path : `/${path}`;
  }
  if (DOT_SEGMENT.test(request.url)) return answerProblem(request, response, problems.notFound());
  next();
}

const unreadable = (what: string) => problems.malformedRequest(`The target of the request ${what}.`);
