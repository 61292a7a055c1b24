import { randomUUID } from 'node:crypto';
import { type IncomingMessage, maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerText } from './answer.js';
import { Problem } from './problem.js';
import { problems } from './problems.js';

const LINGER_MS = 5000;
const LONGEST_SHOWN = 80;

/** As Node has it, which answers so itself where nothing listens. */
interface Answering {
  _httpMessage?: ServerResponse | null;
}

/**
 * For `clientError` of the HTTP server: answers in the form of contract §3 what never becomes a request, since Node
 * itself cannot read it. The connection ends with the answer, and without one where another has begun on it.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex & Answering): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const problem = problemOf(error);
  const requestId = randomUUID();
  const body = answerText(problem.body(requestId));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: private, no-cache',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Closed at once, the answer could be lost to a client that is still sending.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** For `checkExpectation` of the HTTP server: an `Expect` with anything but `100-continue`. The connection ends with the answer. */
export function refuseExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  const requestId = randomUUID();
  const problem = new Problem(
    417,
    'expectation-failed',
    'The expectation cannot be met',
    `Expect: ${String(headers.expect).slice(0, LONGEST_SHOWN)} is not supported. Leave it out, or send 100-continue.`,
  );
  const body = answerText(problem.body(requestId));
  response.writeHead(problem.status, {
    'Content-Length': Buffer.byteLength(body),
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Cache-Control': 'private, no-cache',
    'X-Request-Id': requestId,
    Connection: 'close',
  });
  response.end(body);
}

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem(
      431,
      'headers-too-large',
      'The headers are too large',
      `The URL and the headers of a request have at most ${maxHeaderSize} bytes together.`,
    );
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem(
      408,
      'request-timeout',
      'The request took too long',
      'The request did not arrive in time. Send it again.',
    );
  return problems.malformedRequest('What was sent is no valid HTTP/1.1 request.');
}
