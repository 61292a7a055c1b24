import { Injectable, Inject } from '@nestjs/common';
import { problems, handOver, sendJson } from '../../../platform/http/index.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { Request, Response } from 'express';
import Negotiator from 'negotiator';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { settledWithin } from '../../../platform/common/index.js';
import { callerOf } from '../../../auth/index.js';
import { SILENCE } from '../page/changes-lines.js';
import type { OpenPage, Page } from '../page/page-items.js';
import { PageBytes, type PageBudget } from '../page/page-bytes.js';
import { giveBack } from '../../transcode/index.js';

/** A digest reads all records of a service, so this instance computes only one at a time for each credential. */
@Injectable()
export class DigestTurns {
  private readonly busy = new Set<string>();

  /** Throws 429 `digest-busy` while another digest of the same user name is in progress. */
  async take(username: string, make: () => Promise<void>): Promise<void> {
    if (this.busy.has(username)) throw problems.digestBusy();
    this.busy.add(username);
    try {
      await make();
    } finally {
      this.busy.delete(username);
    }
  }
}

/**
 * Limits the concurrent pages of each credential on this instance. A page counts from the request until the client has taken
 * the last byte. It holds memory meanwhile, and its reads slow down the pages of others.
 */
@Injectable()
export class PageTurns {
  private readonly most: number;
  private readonly inWork = new Map<string, number>();

  constructor(@Inject(SETTINGS) { credentialPages }: Pick<Settings, 'credentialPages'>) {
    this.most = credentialPages;
  }

  /** The number of pages of a user name that are in progress. */
  of(username: string): number {
    return this.inWork.get(username) ?? 0;
  }

  /** Throws 429 `pages-busy` if this user name has reached its limit. */
  async take(username: string, make: () => Promise<void>): Promise<void> {
    const others = this.of(username);
    if (others >= this.most) throw problems.pagesBusy(this.most);
    this.inWork.set(username, others + 1);
    try {
      await make();
    } finally {
      this.end(username);
    }
  }

  private end(username: string): void {
    const left = this.of(username) - 1;
    if (left === 0) this.inWork.delete(username);
    else this.inWork.set(username, left);
  }
}

/** Bodies up to this size are not worth compressing (bytes). */
const LEAST_BYTES = 1024;
/** A pipeline adds seven listeners to its destination, and each request has four. Node warns on stderr beyond ten. */
const MOST_LISTENERS = 20;

const { constants } = zlib;

/**
 * The encodings of a page, best first, each at level 1: higher levels cost more than the page itself. All of them flush
 * after each piece, so that available data is never delayed.
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

/** An encoding that a client accepts. */
interface Encoding {
  name: string;
  encoder: Transform;
}

/** The encoding for the client of a request; undefined if it accepts none, or a body of a known `length` is too small. */
function encodingFor(request: Request, length: number | undefined): Encoding | undefined {
  if (length !== undefined && length <= LEAST_BYTES) return undefined;
  const names = Object.keys(ENCODERS);
  const name = new Negotiator(request).encoding([...names, 'identity'], { preferred: names });
  const encoder = name === undefined ? undefined : ENCODERS[name];
  return encoder && { name: name!, encoder: encoder() };
}

/** Zstandard, which Node supports from 22.15 on. */
function zstd(): Record<string, () => Transform> {
  const { createZstdCompress } = zlib as { createZstdCompress?: (options: object) => Transform };
  if (createZstdCompress === undefined) return {};
  const { ZSTD_c_compressionLevel, ZSTD_e_flush } = constants as unknown as Record<string, number>;
  const params = { [ZSTD_c_compressionLevel!]: 1 };
  return { zstd: () => createZstdCompress({ flush: ZSTD_e_flush, params }) };
}

/** A sign of life. JSON allows whitespace between its tokens. */
const SIGN = Buffer.from(' ');

/** Passes pieces through. Yields a blank after every `ms` milliseconds of waiting, except after {@link SILENCE}. */
export async function* withSigns(
  pieces: AsyncGenerator<Buffer, void>,
  ms: number,
): AsyncGenerator<Buffer, void> {
  let isSilent = false;
  try {
    for (;;) {
      const next = pieces.next();
      while (!isSilent && (await settledWithin(next, ms)) === undefined) yield SIGN;
      const { value, done } = await next;
      if (done === true) return;
      isSilent = value === SILENCE;
      if (!isSilent) yield value;
    }
  } finally {
    await pieces.return();
  }
}

/** The client no longer waits for the page. */
class NobodyWaitsError extends Error {}

/** Sends the answer of `max`. */
export async function answerMax(response: Response, max: Promise<Date>): Promise<void> {
  const offset = (await max).toISOString();
  response.setHeader('ETag', `"${offset}"`);
  sendJson(response, `{"offset":"${offset}"}`);
}

/** The part of a page that was sent. */
interface Sent {
  budget: Pick<PageBudget, 'items' | 'goesOn'>;
  window?: OpenPage['window'];
}

const sent = new WeakMap<Response, Sent>();

/** The part of a page that was sent, once its answer has ended; no items if the answer is not a page. */
export function sentOf(response: Response): Sent {
  return sent.get(response) ?? { budget: { items: 0, goesOn: false } };
}

/** A body, its length if known, and the memory budget of its page. */
interface Sending {
  body: AsyncGenerator<Buffer, void>;
  length: number | undefined;
  budget: PageBudget;
}

/** Sends pages as fast as their clients take them. */
@Injectable()
export class Answers {
  constructor(
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'signOfLifeMs' | 'stalledMs'>,
    private readonly bytes: PageBytes,
    private readonly turns: PageTurns,
  ) {}

  /**
   * Sends a page. If reading takes long, the headers are sent before the page is ready, and then signs of life. A link
   * in these headers counts items, because the last `_id` of the page is not known yet. Throws 429 `pages-busy`, and
   * 503 `database-away` if reading takes long and the database has not responded at all.
   */
  page(response: Response, open: (budget: PageBudget) => Promise<OpenPage>): Promise<void> {
    const { username } = callerOf(response.req);
    return this.turns.take(username, () => this.pageOf(username, response, open));
  }

  private async pageOf(
    username: string,
    response: Response,
    open: (budget: PageBudget) => Promise<OpenPage>,
  ): Promise<void> {
    const gone = new AbortController();
    const leave = () => gone.abort(new NobodyWaitsError());
    if (response.closed || response.destroyed) leave();
    else response.once('close', leave);
    const budget = this.bytes.open(gone.signal, username);
    try {
      sent.set(response, { budget });
      const opened = await open(budget);
      sent.set(response, { budget, window: opened.window });
      const { headers, length, body } = await this.begun(response, opened);
      gone.signal.throwIfAborted();
      const { window, chosenType } = opened;
      response
        .set('Tidemark-To', window.to.toISOString())
        .type(chosenType ?? 'application/json')
        .vary('Accept-Encoding');
      if (chosenType !== undefined) response.vary('Accept');
      response.set(headers);
      const alive = length === undefined ? withSigns(body, this.settings.signOfLifeMs) : body;
      await this.send(response, { body: alive, length, budget });
    } catch (error) {
      if (!gone.signal.aborted) throw error;
      response.end();
    } finally {
      budget.close();
    }
  }

  private async begun(response: Response, { page, early, heard }: OpenPage): Promise<Page> {
    const isOver = handOver(response);
    const isHeard = heard.then(
      () => true,
      () => false,
    );
    const inTime = settledWithin(page, this.settings.signOfLifeMs);
    const first = await Promise.race([inTime, isOver.then(() => undefined)]);
    if (first !== undefined) return first;
    const next = await Promise.race([page, isHeard, isOver]);
    if (typeof next === 'object') return next;
    if (next !== true) throw problems.databaseAway();
    for (;;) {
      const headers = early();
      if (headers !== undefined) return { headers, body: lateBody(page) };
      const late = await settledWithin(page, this.settings.signOfLifeMs);
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

  /** Writes piece by piece: a pipeline would take longer than making the page. The memory of a sent piece is reused. */
  private async write(response: Response, { body, budget }: Sending): Promise<void> {
    const signal = budget.gone;
    for await (const piece of body) {
      const sent = (failure?: Error | null) => {
        if (!failure) giveBack(piece);
      };
      if (!response.write(piece, sent))
        await this.taken(response, budget, once(response, 'drain', { signal }));
    }
    const finished = once(response, 'finish', { signal });
    response.end();
    await this.taken(response, budget, finished);
  }

  /** Encodes one piece at a time, so that at most one is held before the encoder, and little after it. */
  private async compress(response: Response, { body, budget }: Sending, encoder: Transform): Promise<void> {
    response.setMaxListeners(MOST_LISTENERS);
    const sent = pipeline(encoder, response);
    sent.catch(() => undefined);
    for await (const piece of body)
      await this.taken(response, budget, Promise.race([written(encoder, piece), sent]));
    encoder.end();
    await this.taken(response, budget, sent);
  }

  /**
   * Waits until the client has taken the sent data, and disconnects a client that does not, also where the page waits behind
   * another answer. The timeout of the socket is unsuitable: it restarts when the system takes part of a piece.
   */
  private async taken(response: Response, budget: PageBudget, taken: Promise<unknown>): Promise<void> {
    const stalled = setTimeout(() => response.req.socket.destroy(), this.settings.stalledMs);
    await budget.whileTaken(taken).finally(() => clearTimeout(stalled));
  }
}

/** The body of a late page. It begins with a sign of life. */
async function* lateBody(page: Promise<Page>): AsyncGenerator<Buffer, void> {
  yield SIGN;
  yield* (await page).body;
}

/** Resolves when a stream has processed a piece and has room for another. */
function written(stream: Transform, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(piece, (error) => (error ? reject(error) : resolve()));
  });
}
