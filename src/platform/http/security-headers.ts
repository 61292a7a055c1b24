import type { TLSSocket } from 'node:tls';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { UNSHARED } from './answer.js';

/** Pages for browsers. */
const PAGES = '/docs';

/** Sent over TLS only. For this host alone: its subdomains may be other services. */
const HTTPS_ONLY = 'max-age=31536000';

/** Over plain HTTP no header demands HTTPS: that would break the page under /docs. */
const forPages = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
}) as RequestHandler;

/** Answers of the API are data: a browser must not render one as a page or embed it in one. */
const OF_DATA = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const;

/** Express middleware: sets the security and cache headers. */
export function forbid(request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', UNSHARED);
  if ((request.socket as Partial<TLSSocket>).encrypted === true)
    response.setHeader('Strict-Transport-Security', HTTPS_ONLY);
  if (request.url.startsWith(PAGES)) return forPages(request, response, next) as void;
  for (const [name, value] of OF_DATA) response.setHeader(name, value);
  next();
}
