import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { Request, Response } from 'express';
import Negotiator from 'negotiator';
import { Injectable } from '@nestjs/common';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { settledWithin } from '../../../common/index.js';
import { callerOf } from '../../../auth/index.js';
import { handOver, problems, sendJson } from '../../../http/index.js';
import type { OpenPage, Page } from '../page/page-items.js';
import { PageBytes, type Share } from '../page/page-bytes.js';
import { giveBack } from '../../transcode/index.js';
import { PageTurns } from './turns.js';

/** Less is not worth compressing (bytes). */
const LEAST_BYTES = 1024;

const { constants } = zlib;

/**
 * What a page can be compressed with, the best first, each at its cheapest level: higher ones cost more than the page
 * itself. All give out what they have after each piece, so that nobody waits for what is there.
 */
const ENCODERS: Record<string, () => Transform> = {
  ...zstd(),
  br: () =>
    zlib.createBrotliCompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    }),
  gzip: () => zlib.createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH }),
};

/** An encoding that a client takes. */
interface Encoding {
  name: string;
  encoder: Transform;
}

/** How to compress a body of so many bytes, if they are known, for the client of a request; nothing where it is not worth it. */
function encodingFor(request: Request, length: number | undefined): Encoding | undefined {
  if (length !== undefined && length <= LEAST_BYTES) return undefined;
  const names = Object.keys(ENCODERS);
  const name = new Negotiator(request).encoding([...names, 'identity'], { preferred: names });
  const encoder = name === undefined ? undefined : ENCODERS[name];
  return encoder && { name: name!, encoder: encoder() };
}

/** Node has it since 22.15. */
function zstd(): Record<string, () => Transform> {
  const { createZstdCompress } = zlib as { createZstdCompress?: (options: object) => Transform };
  if (createZstdCompress === undefined) return {};
  const { ZSTD_c_compressionLevel, ZSTD_e_flush } = constants as unknown as Record<string, number>;
  const params = { [ZSTD_c_compressionLevel!]: 1 };
  return { zstd: () => createZstdCompress({ flush: ZSTD_e_flush, params }) };
}

/** How long a page waits, in milliseconds. */
@Injectable()
export class SendingPace {
  /** How long a proxy may wait for something to arrive before it gives up, less some: then a sign of life goes out. */
  signMs = 10_000;

  /** A client that does not take the next piece for so long is let go: what is held for it would be held for ever. */
  stalledMs = 120_000;
}

/** JSON allows blanks between what it is made of. */
const SIGN = Buffer.from(' ');

/** The same pieces, with blanks in between for as long as the next one takes. */
export async function* withSigns(
  pieces: AsyncGenerator<Buffer, void>,
  ms: number,
): AsyncGenerator<Buffer, void> {
  try {
    for (;;) {
      const next = pieces.next();
      while ((await settledWithin(next, ms)) === undefined) yield SIGN;
      const { value, done } = await next;
      if (done === true) return;
      yield value;
    }
  } finally {
    await pieces.return();
  }
}

/** Nobody waits for the page any more. */
class NobodyWaitsError extends Error {}

/** Sends the answer of `max`. */
export async function answerMax(response: Response, max: Promise<Date>): Promise<void> {
  const offset = (await max).toISOString();
  response.setHeader('ETag', `"${offset}"`);
  sendJson(response, `{"offset":"${offset}"}`);
}

/** What was sent of a page. */
interface Sent {
  share: Pick<Share, 'items' | 'goesOn'>;
  window?: OpenPage['window'];
}

const sent = new WeakMap<Response, Sent>();

/** What a page came to, once its answer has ended: nothing where it came to none. */
export function sentOf(response: Response): Sent {
  return sent.get(response) ?? { share: { items: 0, goesOn: false } };
}

/** A body, its length where that is known, and whom it is for. */
interface Sending {
  body: AsyncGenerator<Buffer, void>;
  length: number | undefined;
  share: Share;
}

/** Sends pages as fast as their clients take them. */
@Injectable()
export class Answers {
  constructor(
    private readonly pace: SendingPace,
    private readonly bytes: PageBytes,
    private readonly turns: PageTurns,
  ) {}

  /**
   * Sends a page. One that is not begun in time gives signs of life instead of an answer; its link then leads to a place
   * that is found when it is followed, since its headers are gone before anybody knows whether it is full. Where the
   * database has given no sign of life by then either, it is 503 `database-away`. Throws 429 `pages-busy`.
   */
  page(response: Response, open: (share: Share) => Promise<OpenPage>): Promise<void> {
    const { username } = callerOf(response.req);
    return this.turns.take(username, () => this.pageOf(username, response, open));
  }

  private async pageOf(
    username: string,
    response: Response,
    open: (share: Share) => Promise<OpenPage>,
  ): Promise<void> {
    const gone = new AbortController();
    const leave = () => gone.abort(new NobodyWaitsError());
    if (response.closed || response.destroyed) leave();
    else response.once('close', leave);
    const share = this.bytes.open(gone.signal, username);
    try {
      sent.set(response, { share });
      const opened = await open(share);
      sent.set(response, { share, window: opened.window });
      const { headers, length, body } = await this.begun(response, opened);
      gone.signal.throwIfAborted();
      const { window, chosenType } = opened;
      response
        .set('Tidemark-To', window.to.toISOString())
        .type(chosenType ?? 'application/json')
        .vary('Accept-Encoding');
      if (chosenType !== undefined) response.vary('Accept');
      response.set(headers);
      const alive = length === undefined ? withSigns(body, this.pace.signMs) : body;
      await this.send(response, { body: alive, length, share });
    } catch (error) {
      if (!gone.signal.aborted) throw error;
      response.end();
    } finally {
      share.close();
    }
  }

  private async begun(response: Response, { page, early, heard }: OpenPage): Promise<Page> {
    const isOver = handOver(response);
    const isHeard = heard.then(
      () => true,
      () => false,
    );
    const inTime = settledWithin(page, this.pace.signMs);
    const first = await Promise.race([inTime, isOver.then(() => undefined)]);
    if (first !== undefined) return first;
    const next = await Promise.race([page, isHeard, isOver]);
    if (typeof next === 'object') return next;
    if (next !== true) throw problems.databaseAway();
    for (;;) {
      const headers = early();
      if (headers !== undefined) return { headers, body: lateBody(page) };
      const late = await settledWithin(page, this.pace.signMs);
      if (late !== undefined) return late;
    }
  }

  private async send(response: Response, sending: Sending): Promise<void> {
    const { body, length } = sending;
    const encoding = encodingFor(response.req, length);
    if (encoding !== undefined) response.set('Content-Encoding', encoding.name);
    else if (length !== undefined) response.set('Content-Length', String(length));
    if (response.req.method === 'HEAD') {
      response.end();
      await body.return();
    } else if (encoding === undefined) await this.write(response, sending);
    else await this.compress(response, sending, encoding.encoder);
  }

  /** A pipeline would cost more than the text of the page. The memory of a piece is used again. */
  private async write(response: Response, { body, share }: Sending): Promise<void> {
    const signal = share.gone;
    for await (const piece of body) {
      const sent = (failure?: Error | null) => {
        if (!failure) giveBack(piece);
      };
      if (!response.write(piece, sent))
        await this.taken(response, share, once(response, 'drain', { signal }));
    }
    const finished = once(response, 'finish', { signal });
    response.end();
    await this.taken(response, share, finished);
  }

  /** One piece after the other, so that no more than one is held before the encoder, and little behind it. */
  private async compress(response: Response, { body, share }: Sending, encoder: Transform): Promise<void> {
    const sent = pipeline(encoder, response);
    sent.catch(() => undefined);
    for await (const piece of body)
      await this.taken(response, share, Promise.race([written(encoder, piece), sent]));
    encoder.end();
    await this.taken(response, share, sent);
  }

  /**
   * Waits until the client has taken what was sent, and lets it go where it does not. The timeout of the socket is no
   * help: it begins anew where the system has taken a part of a piece, so that it may last twice as long.
   */
  private async taken(response: Response, share: Share, taken: Promise<unknown>): Promise<void> {
    const stalled = setTimeout(() => response.destroy(), this.pace.stalledMs);
    await share.whileTaken(taken).finally(() => clearTimeout(stalled));
  }
}

/** The body of a page that is late: it begins with a sign of life. */
async function* lateBody(page: Promise<Page>): AsyncGenerator<Buffer, void> {
  yield SIGN;
  yield* (await page).body;
}

/** Resolves when a stream has worked a piece through, and there is room for another. */
function written(stream: Transform, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(piece, (error) => (error ? reject(error) : resolve()));
  });
}
