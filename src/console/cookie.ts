import type { Request, Response } from 'express';

const NAME = 'tidemark-session';
/**
 * The path prefix under which the console reaches the service. A proxy may add one that the service cannot see, and may serve
 * other installations on the same host. With a wrong value the browser does not send the cookie back.
 */
const PLACE_HEADER = 'tidemark-console-place';
/** A path as an address has it: nothing in it ends the attribute of a cookie. */
const PLACE = /^(\/[\w.~!$&'()*+=:@%-]+){0,20}$/;
const LONGEST_PLACE = 500;

/** What the session cookie of a request holds; empty where it has none. Of several, that of the longest path comes first. */
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

function attributesFor({ secure, headers }: Request) {
  const { [PLACE_HEADER]: place = '' } = headers;
  const isPath = typeof place === 'string' && place.length <= LONGEST_PLACE && PLACE.test(place);
  return { httpOnly: true, sameSite: 'strict', path: `${isPath ? place : ''}/`, secure } as const;
}
