import { PASSWORD } from './application.js';
import { searchAnswer } from './canaries.js';

export interface SendOptions {
  /** User name; `null` sends no credentials. */
  user?: string | null;
  password?: string;
  query?: Record<string, string | string[] | undefined>;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array | ReadableStream;
}

/** What came back. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined where it is not JSON. */
  json: unknown;
}

/** One real HTTP request. */
export async function send(url: string, method: string, options: SendOptions): Promise<Answer> {
  const target = new URL(url);
  for (const [name, value] of Object.entries(options.query ?? {})) {
    for (const one of [value ?? []].flat()) target.searchParams.append(name, one);
  }
  const { user, password = PASSWORD } = options;
  const headers = new Headers(options.headers);
  if (user !== null && user !== undefined && !headers.has('authorization')) {
    headers.set('authorization', `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  }
  if (options.body !== undefined && !headers.has('content-type'))
    headers.set('content-type', 'application/json');
  const body = options.raw ?? (options.body === undefined ? null : JSON.stringify(options.body));
  const response = await fetch(target, { method, headers, body, redirect: 'manual' });
  const text = await response.text();
  await searchAnswer(target, response.headers, text);
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
