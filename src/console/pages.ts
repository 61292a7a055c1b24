import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express, { type NextFunction, type Request, type Response } from 'express';
import { problems } from '../http/index.js';

const PAGES = join(import.meta.dirname, 'pages');
const METHODS = ['GET', 'HEAD'];
const NONCE_BYTES = 16;
/** Where the page has it: Vite writes it there (console/vite.config.mjs). */
const NONCE = /__NONCE__/g;
/** Names of files hold a digest of their content. */
const FOREVER = { immutable: true, maxAge: '365d', index: false, redirect: false } as const;
const NOT_BUILT = 'The console is not built: run npm run build.';

/**
 * Serves the console under `/console`. Its page may run its own scripts and no others, ask this service and no other,
 * and be shown within no other page; the nonce is for the one style sheet that the editor writes.
 */
export function serveConsole(app: NestExpressApplication): void {
  const page = pageIn(PAGES);
  app.use('/console/assets', express.static(join(PAGES, 'assets'), FOREVER));
  app.use('/console', (request: Request, response: Response, next: NextFunction) => {
    if (request.path.startsWith('/assets/')) return next();
    if (!METHODS.includes(request.method)) throw problems.methodNotAllowed(METHODS.join(', '));
    if (page === undefined) return void response.status(404).type('text').send(NOT_BUILT);
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    response.setHeader('Content-Security-Policy', policyWith(nonce));
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.type('html').send(page.replace(NONCE, nonce));
  });
}

function pageIn(directory: string): string | undefined {
  const path = join(directory, 'index.html');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
