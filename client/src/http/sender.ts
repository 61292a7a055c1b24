import type { TidemarkOptions } from '../options.js';
import { VERSION } from '../version.js';
import { type Retries, RETRIES, secondsOf, waitBefore } from './back-off.js';
import { authorizationOf, baseOf } from './base.js';
import { piecesOf, textOf } from './body.js';
import { ConnectionError, reasonOf, TooLongError } from './connection-error.js';
import { pause } from './pause.js';
import { ProblemError, problemOf } from './problem.js';
import { isRefusedUnseen, isTransient } from './repeatable.js';
import { addressOf, headersOf, type Request } from './request.js';
import { Silence } from './silence.js';

const SILENCE_MS = 60_000;
const NOT_MODIFIED = 304;

/** Browsers keep no copy of what was answered. Node has no such copies, and not in its types either. */
const UNSTORED: object = { cache: 'no-store' };

/** An answer that is a success. The body is undefined where nothing has changed (304). */
export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** A request as it goes to `fetch`. */
interface MadeRequest {
  url: string;
  init: RequestInit;
}

/** Sends requests of one application with one credential, and repeats what may be repeated. */
export class Sender {
  readonly retries: Retries;
  private readonly base: string;
  private readonly headers: Record<string, string>;
  private readonly silenceMs: number;
  private readonly fetch: typeof globalThis.fetch;
  private readonly parse: (text: string) => unknown;

  constructor(options: TidemarkOptions) {
    this.base = baseOf(options);
    this.headers = {
      Authorization: authorizationOf(options),
      'User-Agent': options.userAgent ?? `tidemark-client/${VERSION}`,
    };
    const { times, firstMs, longestMs } = options.retries ?? {};
    this.retries = {
      times: times ?? RETRIES.times,
      firstMs: firstMs ?? RETRIES.firstMs,
      longestMs: longestMs ?? RETRIES.longestMs,
    };
    this.silenceMs = options.silenceMs ?? SILENCE_MS;
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.parse = options.parse ?? JSON.parse;
  }

  /**
   * Reads are repeated on 408, 429, 502, 503, 504, where no answer came, and where it broke off; writes only where the service
   * refused them before it looked at them. Throws `ProblemError`, `ConnectionError`, or the reason of the signal; for a request
   * that cannot be made, such as for an invalid date, what the platform says.
   */
  async send<Body>(request: Request): Promise<Answer<Body>> {
    const mayRepeat = request.method === 'GET' ? isTransient : isRefusedUnseen;
    for (let count = 0; ; count += 1) {
      try {
        return await this.once<Body>(request);
      } catch (error) {
        const ms = mayRepeat(error) ? this.waitBefore(count, error) : undefined;
        if (ms === undefined) throw error;
        await pause(ms, request.signal);
      }
    }
  }

  /** The pieces of an answer that goes on and on, as text; it is not repeated. Throws as `send` does. */
  async *pieces(request: Request, type: string): AsyncGenerator<string, void> {
    const made = this.made(request);
    const silence = new Silence(this.silenceMs, request.signal);
    try {
      const response = await this.succeeded(made, silence);
      const found = response.headers.get('content-type') ?? 'of no type';
      if (!found.startsWith(type)) throw new Error(`it is ${found}, not ${type}`);
      yield* piecesOf(response, silence);
    } catch (error) {
      throw failureOf(error, request);
    } finally {
      silence.end();
    }
  }

  /** Milliseconds before the next attempt, the `count`-th from 0; nothing where there is to be none. */
  waitBefore(count: number, error: unknown): number | undefined {
    const retryAfter = error instanceof ProblemError ? error.retryAfter : undefined;
    return waitBefore({ count, retryAfter }, this.retries, Math.random());
  }

  private async once<Body>(request: Request): Promise<Answer<Body>> {
    const made = this.made(request);
    const silence = new Silence(this.silenceMs, request.signal);
    try {
      const response = await this.succeeded(made, silence);
      const { status, headers } = response;
      const text = await textOf(response, silence);
      if (text === '' && status !== NOT_MODIFIED) throw new Error('its body is empty');
      return { status, headers, body: (text === '' ? undefined : this.parse(text)) as Body };
    } catch (error) {
      throw failureOf(error, request);
    } finally {
      silence.end();
    }
  }

  /** Outside of what may be repeated: what is wrong with a request is wrong the next time too. */
  private made(request: Request): MadeRequest {
    const headers = { ...this.headers, ...headersOf(request) };
    // Throws for characters that no header has.
    void new Headers(headers);
    return {
      url: this.base + addressOf(request),
      init: {
        ...{ method: request.method, headers },
        body: request.body === undefined ? null : JSON.stringify(request.body),
      },
    };
  }

  private async succeeded({ url, init }: MadeRequest, silence: Silence): Promise<Response> {
    const response = await this.fetch(url, {
      ...init,
      signal: silence.signal,
      ...UNSTORED,
      credentials: 'omit',
      redirect: 'manual',
    });
    silence.heard();
    if (response.ok || response.status === NOT_MODIFIED) return response;
    const problem = problemOf(response, await textOf(response, silence));
    throw new ProblemError(problem, secondsOf(response.headers.get('retry-after'), Date.now()));
  }
}

/** What a caller is told of a failure: the reason of its own signal as it is. */
function failureOf(error: unknown, { method, path, signal }: Request): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof ProblemError) return error;
  const what = `${method} ${path.slice(1).join('/')}`;
  if (error instanceof TooLongError) return new TooLongError(what, { cause: error.cause });
  return new ConnectionError(`${what} has no whole answer: ${reasonOf(error)}`, { cause: error });
}
