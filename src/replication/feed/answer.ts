import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { handOver, problems } from '../../common/index.js';
import { giveBack } from './bytes/index.js';
import { encodingFor } from './encoding.js';
import type { Page } from './page.js';
import { SIGN, withSigns } from './signs-of-life.js';

/** A page whose `to` is known, while the rest is still being read. */
export interface OpenPage {
  to: Date;
  page: Promise<Page>;
  /** Resolves when the database has shown that it is at work for the page. */
  heard: Promise<void>;
}

/** Nobody waits for the page any more. */
class NobodyWaitsError extends Error {}

/**
 * Sends a page. One that is not begun in time gives signs of life instead of an answer; it cannot link to the next one
 * then, since its headers are gone before anybody knows whether it is full. Where the database has given none by then
 * either, it is 503 `database-away`. `gone` is aborted where nobody waits for the page any more: the client went away, or
 * was answered otherwise.
 */
export async function answerPage(
  response: Response,
  open: (gone: AbortSignal) => Promise<OpenPage>,
): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort(new NobodyWaitsError());
  if (response.closed || response.destroyed) leave();
  else response.once('close', leave);
  try {
    const { to, ...opened } = await open(gone.signal);
    const { headers, length, body } = await begun(response, opened);
    gone.signal.throwIfAborted();
    response.set('Tidemark-To', to.toISOString()).type('application/json').vary('Accept-Encoding');
    response.set(headers);
    await send(response, { body: length === undefined ? withSigns(body) : body, length, gone: gone.signal });
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    response.end();
  }
}

/** Sends the answer of `max`; Express turns it into 304 where If-None-Match fits. */
export async function answerMax(response: Response, max: Promise<Date>): Promise<void> {
  const offset = (await max).toISOString();
  response.set('ETag', `"${offset}"`).type('application/json').send(JSON.stringify({ offset }));
}

/** The page, or what stands for it where it is late. */
async function begun(
  response: Response,
  { page, heard }: Omit<OpenPage, 'to'>,
): Promise<Pick<Page, 'headers' | 'length' | 'body'>> {
  let isHeard = false;
  heard.then(
    () => (isHeard = true),
    () => undefined,
  );
  const inTime = await Promise.race([page, handOver(response)]);
  if (inTime !== undefined) return inTime;
  if (!isHeard) throw problems.databaseAway();
  return { headers: {}, body: lateBody(page) };
}

/** The body of a page that is late: it begins with a sign of life. */
async function* lateBody(page: Promise<Page>): AsyncGenerator<Buffer, void> {
  yield SIGN;
  yield* (await page).body;
}

/** A body, its length where that is known, and whether anybody waits for it. */
interface Sending {
  body: AsyncGenerator<Buffer, void>;
  length: number | undefined;
  gone: AbortSignal;
}

async function send(response: Response, { body, length, gone }: Sending): Promise<void> {
  const encoding = encodingFor(response.req, length);
  if (encoding !== undefined) response.set('Content-Encoding', encoding.name);
  else if (length !== undefined) response.set('Content-Length', String(length));
  if (response.req.method === 'HEAD') {
    response.end();
    await body.return();
    return;
  }
  if (encoding === undefined) await write(response, body, gone);
  else await pipeline(Readable.from(body, { objectMode: false }), encoding.encoder, response);
}

/** As fast as the client reads; a pipeline would cost more than the text of the page. The memory of a piece is used again. */
async function write(
  response: Response,
  body: AsyncGenerator<Buffer, void>,
  gone: AbortSignal,
): Promise<void> {
  for await (const piece of body) {
    const sent = (failure?: Error | null) => {
      if (!failure) giveBack(piece);
    };
    if (!response.write(piece, sent)) await once(response, 'drain', { signal: gone });
  }
  response.end();
}
