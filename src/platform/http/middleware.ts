import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { beforeAnswer, answerProblem } from './answer.js';
import { Problem } from './problem.js';
import { problems } from './problems.js';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** The absolute form that clients of a proxy send (RFC 9112 §3.2.2), up to its path. */
const ORIGIN = /^https?:\/\/[^/?#\\]+(?=[/?]|$)/i;
const DOT_SEGMENT = /^[^?]*\/(\.|%2e){1,2}(\/|\?|$)/i;

const unreadable = (what: string) => problems.malformedRequest(`The target of the request ${what}.`);

/** Maximum number of bytes of an unneeded body that are still read, so that the client reads the answer. */
const SPARE_BYTES = 1024 * 1024;

/** Maximum number of characters of an `Expect` in an answer. */
const LONGEST_SHOWN = 80;

/** How long a connection stays open after the answer to a request whose body is unread (milliseconds). */
const LINGER_MS = 2000;

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Express types are extended this way
  namespace Express {
    interface Request {
      /** Links an answer to its log lines. */
      id: string;
      /** The id of its trace, if it is traced. */
      traceId?: string;
    }
  }
}

/**
 * Express middleware, before all others but that of CORS: sets the id that links an answer to its log lines. It is the
 * caller's `X-Request-Id` if that is harmless, else a UUID.
 */
export function giveRequestId(request: Request, response: Response, next: NextFunction): void {
  const sent = request.headers['x-request-id'];
  request.id = typeof sent === 'string' && ACCEPTABLE.test(sent) ? sent : randomUUID();
  response.setHeader('X-Request-Id', request.id);
  next();
}

const refused = new WeakSet<IncomingMessage>();

/** Handler for `checkExpectation` of a server, for requests with an `Expect` other than `100-continue`. */
export function noteExpectation(this: Server, request: IncomingMessage, response: ServerResponse): void {
  refused.add(request);
  this.emit('request', request, response);
}

/** Express middleware: refuses the requests of {@link noteExpectation} and closes their connections. */
export function refuseExpectation(request: Request, response: Response, next: NextFunction): void {
  if (!refused.has(request)) return next();
  const expected = String(request.headers.expect).slice(0, LONGEST_SHOWN);
  const detail = `Expect: ${expected} is not supported. Leave it out, or send 100-continue.`;
  response.setHeader('Connection', 'close');
  answerProblem(
    request,
    response,
    new Problem(417, 'expectation-failed', 'The expectation cannot be met', detail),
  );
}

/**
 * Express middleware: passes only the path and query of the request's target to the routes, as they were sent. Answers
 * 400 to a fragment, to a target that is neither a path nor an HTTP URL, and to a request of HTTP/1.1 without a host; and
 * 404 to a path with dot segments. Express itself drops a fragment and turns a backslash of an absolute URL into a slash,
 * so such a spelling could bypass a proxy's rule for a path.
 */
export function readPlainTarget(request: Request, response: Response, next: NextFunction): void {
  const { url } = request;
  // Node's own answer would have no body.
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    response.setHeader('Connection', 'close');
    return answerProblem(request, response, problems.malformedRequest('The request has no header Host.'));
  }
  if (url.startsWith('/')) {
    if (url.includes('#')) return answerProblem(request, response, unreadable('contains a fragment'));
  } else {
    const origin = ORIGIN.exec(url)?.[0];
    if (origin === undefined || url.includes('#'))
      return answerProblem(request, response, unreadable('is not a path'));
    const path = url.slice(origin.length);
    request.url = request.originalUrl = path.startsWith('/') ? path : `/${path}`;
  }
  if (DOT_SEGMENT.test(request.url)) return answerProblem(request, response, problems.notFound());
  next();
}

/**
 * Express middleware: if a request's body was not read to its end, its connection is closed after the answer. By
 * default, Node reads such a body to its end, regardless of its length, before the next request.
 */
export function endUnreadBodies(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (hasBody(request))
    beforeAnswer(response, () => {
      if (!request.complete) endWith(request, response);
    });
  next();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/**
 * If the connection were closed while the client is still sending, TCP would discard the answer before the client
 * reads it. So the service sends its end of the stream, reads a limited rest of the body, and closes shortly after.
 */
function endWith(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  let spare = SPARE_BYTES;
  response.setHeader('Connection', 'close');
  request
    .on('data', ({ length }: Buffer) => {
      spare -= length;
      if (spare < 0) request.pause();
    })
    .resume();
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
