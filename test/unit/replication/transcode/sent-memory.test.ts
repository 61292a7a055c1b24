import { once } from 'node:events';
import { get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { readSettings } from '../../../../src/platform/config/index.js';
import { Metrics } from '../../../../src/platform/observability/index.js';
import { Answers, PageTurns } from '../../../../src/replication/feed/http/answer.js';
import { PageBytes } from '../../../../src/replication/feed/page/page-bytes.js';
import type { Page } from '../../../../src/replication/feed/page/page-items.js';
import { copyOf } from '../../../../src/replication/transcode/writer.js';

/** A guard has let in who asks. */
const asReader: RequestHandler = (request, _response, next) => {
  request.user = { username: 'reader' };
  next();
};

const to = new Date('2025-03-04T05:06:07.008Z');

const answers = new Answers(
  readSettings({}),
  new PageBytes(new Metrics(), { feedMemory: 64 * 1024 * 1024 }),
  new PageTurns({ credentialPages: 100 }),
);

/** More than all buffers of a connection hold. */
const PIECES = 64;
const PIECE_BYTES = 256 * 1024;

const letterOf = (page: number, piece: number) => 65 + ((page + 3 * piece) % 26);
const textOf = (page: number, piece: number) => Buffer.alloc(PIECE_BYTES, letterOf(page, piece));

/** The memory of all pieces so far. */
let lent: Set<ArrayBufferLike>;

async function* copiesOf(page: number): AsyncGenerator<Buffer, void> {
  for (let piece = 0; piece < PIECES; piece += 1) {
    const copy = await Promise.resolve(copyOf(textOf(page, piece)));
    lent.add(copy.buffer);
    yield copy;
  }
}

async function open(server: Server, page: number): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const request = get({ host: '127.0.0.1', port, path: `/${page}`, agent: false });
  return ((await once(request, 'response')) as [IncomingMessage])[0];
}

async function rightBytes(answer: IncomingMessage, page: number, most = Infinity): Promise<number> {
  const expected = Buffer.concat(Array.from({ length: PIECES }, (_, piece) => textOf(page, piece)));
  let at = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    if (!part.equals(expected.subarray(at, at + part.length)))
      throw new Error(`page ${page}: wrong at ${at}`);
    at += part.length;
    if (at > most) break;
  }
  return at;
}

let server: Server;
beforeEach(async () => {
  lent = new Set();
  server = express()
    .use(asReader)
    .get('/:page', (request, response) => {
      const body = copiesOf(Number(request.params.page));
      const page: Page = { headers: {}, length: PIECES * PIECE_BYTES, body };
      answers
        .page(response, () =>
          Promise.resolve({
            window: { from: undefined, to, isFirst: true },
            page: Promise.resolve(page),
            early: () => ({}),
            heard: Promise.resolve(),
          }),
        )
        .catch(() => undefined);
    })
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

it('a page needs a few buffers only', async () => {
  const answer = await open(server, 1);
  answer.resume();
  await once(answer, 'end');
  expect(lent.size).toBeLessThan(PIECES / 2);
});

it('memory is used again when it is sent and never before, however slow a client is, and whoever leaves', async () => {
  const slow = [await open(server, 1), await open(server, 2)];
  await rightBytes(await open(server, 3), 3, PIECE_BYTES);
  for (const page of [4, 5])
    expect(await rightBytes(await open(server, page), page)).toBe(PIECES * PIECE_BYTES);
  const lengths = await Promise.all(slow.map((answer, index) => rightBytes(answer, 1 + index)));
  expect(lengths).toEqual([PIECES * PIECE_BYTES, PIECES * PIECE_BYTES]);
});
