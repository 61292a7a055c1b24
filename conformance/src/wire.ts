import { setTimeout as wait } from 'node:timers/promises';
import { answerText, type EnoughText } from './answer-text.js';
import { type BasicLogin, type HttpAnswer, parsed, type SentRequest } from './http-answer.js';

/** The server, the network or a bound stands in the way: nothing can be said about the contract. */
export class CannotJudgeError extends Error {}

/** What a run may cost. */
export interface WireBounds {
  /** Greatest number of requests. */
  requests: number;
  /** Milliseconds for one request. */
  requestMs: number;
  /** Milliseconds for the whole run. */
  runMs: number;
  /** Milliseconds in which what comes at once in a stream has come, if not 10 s: to find out what `max` is may take as long. */
  atOnceMs?: number;
}

/** Answers to these are asked for again: the contract calls them passing. */
const PASSING = new Set([429, 503]);
const MOST_ATTEMPTS = 20;
const USUAL_PAUSE_S = 2;
const AT_ONCE_MS = 10_000;

/** Sends requests within the bounds of a run. */
export class Wire {
  /** How many requests were sent. */
  requests = 0;
  private readonly end: number;

  constructor(private readonly bounds: WireBounds) {
    this.end = Date.now() + bounds.runMs;
  }

  /**
   * Sends a request, and makes and sends it again while the answer is 503 or 429. Throws {@link CannotJudgeError} if no
   * answer comes.
   */
  async send(request: () => SentRequest, enough?: EnoughText): Promise<HttpAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.once(request(), enough);
      if (!PASSING.has(answer.status) || attempt === MOST_ATTEMPTS) return answer;
      const seconds = Number(answer.headers.get('retry-after') ?? USUAL_PAUSE_S) || USUAL_PAUSE_S;
      await wait(Math.min(seconds * 1000, this.left()));
    }
  }

  private async once(sent: SentRequest, enough: EnoughText | undefined): Promise<HttpAnswer> {
    if (this.requests >= this.bounds.requests)
      throw new CannotJudgeError(
        `${this.requests} requests were sent, more are not allowed: see --requests, now ${this.bounds.requests}.`,
      );
    const late = new AbortController();
    const tooLate = () => late.abort(new DOMException('late', 'TimeoutError'));
    const timer = setTimeout(tooLate, Math.min(this.bounds.requestMs, this.left()));
    this.requests += 1;
    const { method, url, headers, login, body } = sent;
    const { atOnceMs = AT_ONCE_MS } = this.bounds;
    const authorization = login && { authorization: basic(login) };
    try {
      const options = { method, headers: { ...headers, ...authorization }, signal: late.signal };
      const response = await fetch(url, { ...options, body: body ?? null, redirect: 'manual' });
      // Who listens to a stream says itself how long.
      if (enough !== undefined) clearTimeout(timer);
      const text = await answerText(response, enough && { withinMs: atOnceMs, ...enough });
      return { sent, status: response.status, headers: response.headers, text, json: parsed(text) };
    } catch (error) {
      throw new CannotJudgeError(`No answer to ${method} ${url.href}: ${causeOf(error)}.`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Milliseconds until the run has to end. */
  private left(): number {
    const left = this.end - Date.now();
    if (left > 0) return left;
    throw new CannotJudgeError(`The run took longer than --deadline, ${this.bounds.runMs / 1000} s.`);
  }
}

function basic({ username, password }: BasicLogin): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** `fetch` hides what happened in a cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'none came in time';
  const { cause } = error;
  const told =
    cause instanceof Error ? (cause as Error & { code?: string }) : (error as Error & { code?: string });
  return told.code ?? told.message;
}
