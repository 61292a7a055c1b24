import type { Request, Response } from 'express';

const NAME = 'tidemark-session';

/** What the session cookie of a request holds; empty where it has none. */
export function sessionToken({ headers }: Pick<Request, 'headers'>): string {
  for (const cookie of (headers.cookie ?? '').split(';')) {
    const [name, value] = cookie.trim().split('=');
    if (name === NAME) return value ?? '';
  }
  return '';
}

/** Gives the session to the browser: no script reads it, and no other site's page makes the browser send it. */
export function giveSession(request: Request, response: Response, token: string, ends: Date): void {
  response.cookie(NAME, token, { ...attributesFor(request), expires: ends });
}

/** Takes the session from the browser. */
export function takeSession(request: Request, response: Response): void {
  response.clearCookie(NAME, attributesFor(request));
}

function attributesFor({ secure }: Request) {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure } as const;
}
