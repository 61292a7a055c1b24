import { SERVICE } from './place.js';

/** The service's answer that is no success (RFC 9457), or that there was none. */
export class ServiceError extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly errors: { pointer?: string; detail: string }[] = [],
    readonly type?: string,
  ) {
    super(detail);
  }
}

/** What came back, with the entity tag of what it shows. */
export interface Answered<T> {
  body: T;
  etag: string | null;
}

export interface Ask {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** The page asks of its own accord: that does not keep a session open. */
  isPoll?: boolean;
}

type Listener = () => void;
const listeners = new Set<Listener>();

/** Tells when the session is over, whoever notices it. */
export function onSessionOver(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether something failed only because the session is over: the page for signing in tells that. */
export function isSessionOver(error: unknown): boolean {
  return (
    error instanceof ServiceError && error.status === 401 && error.type?.endsWith('session-over') === true
  );
}

/** Whether the service could not answer at that moment. */
export function isAway(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 503;
}

/** Asks the service at one of its paths. Throws a {@link ServiceError}, or what `fetch` throws where it was cancelled. */
export async function ask<T>(path: string, asked: Ask = {}): Promise<Answered<T>> {
  const { method = 'GET', body, headers = {}, signal, isPoll = false } = asked;
  const response = await fetch(SERVICE + path, {
    method,
    headers: {
      'Tidemark-Console': isPoll ? 'poll' : 'use',
      'Tidemark-Console-Place': SERVICE,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    credentials: 'same-origin',
    cache: 'no-store',
    ...(signal && { signal }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ServiceError(0, 'No answer', 'The service does not answer. Is it running?');
  });
  const text = await response.text();
  if (!response.ok) throw problemOf(response.status, text);
  return { body: (text === '' ? undefined : JSON.parse(text)) as T, etag: etagOf(response) };
}

/** As the service has sent it: a proxy that compresses answers makes it weak, and a weak one never fits `If-Match`. */
function etagOf({ headers }: Response): string | null {
  return headers.get('etag')?.replace(/^W\//, '') ?? null;
}

/** Asks the administration API; `path` follows `/admin/v1/`. */
export function admin<T>(path: string, asked: Ask = {}): Promise<Answered<T>> {
  return ask<T>(`/admin/v1/${path}`, asked);
}

/** A path of names, each of which may hold anything. */
export function pathOf(...names: string[]): string {
  return names.map(encodeURIComponent).join('/');
}

function problemOf(status: number, text: string): ServiceError {
  const { type, title, detail, errors } = parsed(text);
  const says = detail ?? 'The service says no more.';
  const error = new ServiceError(status, title ?? `Status ${status}`, says, errors, type);
  if (isSessionOver(error)) listeners.forEach((tell) => tell());
  return error;
}

function parsed(text: string): Partial<ServiceError & { type: string }> {
  try {
    return JSON.parse(text) as Partial<ServiceError & { type: string }>;
  } catch {
    return {};
  }
}
