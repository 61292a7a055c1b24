import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { settledWithin } from '../../../common/index.js';
import { callerOf } from '../../../auth/index.js';
import { handOver, problems, sendJson } from '../../../http/index.js';
import { type OpenPage, type Page, PageBytes, type Share } from '../page/index.js';
import { giveBack } from '../transcode/index.js';
import { encodingFor } from './encoding.js';
import { PageTurns } from './page-turns.js';
import { SendingPace } from './sending-pace.js';
import { SIGN, withSigns } from './signs-of-life.js';

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
