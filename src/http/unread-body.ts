import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeAnswer } from './before-answer.js';

/** Most bytes of an unneeded body that are still read, so that the client reads the answer. */
const SPARE_BYTES = 1024 * 1024;

/** So long a connection lives on behind its last answer (milliseconds). */
const LINGER_MS = 2000;

/**
 * Express middleware: an answer to a request whose body was not read to its end is the last one of its connection. Left
 * to itself Node reads such a body to its end, however long it is, to come to the next request.
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
 * Closed at once while the client is still sending, TCP would throw away the answer that it has not read yet. So the
 * service says that it is done, lets a bounded rest come in, and closes shortly after.
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
