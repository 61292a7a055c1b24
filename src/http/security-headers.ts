import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { UNSHARED } from './answer.js';

/** Pages that people look at in a browser. */
const PAGES = '/docs';

/** Over plain HTTP, a demand to use HTTPS would break the page under /docs. TLS is the proxy's business. */
const forPages = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
}) as RequestHandler;

/** An answer of the API is data: no browser may take it for a page, nor show it within one. */
const OF_DATA = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const;

/** Express middleware: the headers that tell browsers and caches what they must not do. */
export function forbid(request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', UNSHARED);
  if (request.url.startsWith(PAGES)) return forPages(request, response, next) as void;
  for (const [name, value] of OF_DATA) response.setHeader(name, value);
  next();
}
