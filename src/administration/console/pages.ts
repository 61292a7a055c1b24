import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import type { Express, Response } from 'express';
import { isAboutTheService, serveBytes } from '../../platform/http/index.js';

const FILES = join(import.meta.dirname, 'pages');
const APPLICATION = '/applications/:org/:app';
/** The paths of the page's views, below `/console`. */
const VIEWS = [
  ...['', '/applications', APPLICATION, `${APPLICATION}/:kind`, `${APPLICATION}/:kind/:name`],
  ...['/credentials', '/consumers', '/explorer', '/search', '/trail', '/kinds', '/watcher'],
];
const NONCE_BYTES = 16;
/** The placeholder of the nonce in the page, written by Vite (console/vite.config.mjs). */
const NONCE = /__NONCE__/g;
/** The placeholders of the console's path in the page: for its scripts, and in the URLs of its files. */
const PLACE = /__CONSOLE__|(?<=")\.\/(?=assets\/)/g;
/** Files can be cached forever, because their names contain a digest of their content. */
const FOREVER = 'public, max-age=31536000, immutable';
const NOT_BUILT = 'The console is not built: run npm run build.';

/**
 * Serves the console under `/console`. The page may run only its own scripts, send requests only to this service, and not be
 * embedded in another page. The nonce is for the one style sheet that the editor creates.
 */
export function serveConsole(app: INestApplication): void {
  const page = pageIn(FILES);
  for (const file of assetsIn(FILES))
    serveBytes(app, `/console/assets/${file}`, {
      type: extname(file),
      read: () => readFileSync(join(FILES, 'assets', file)),
      cacheControl: FOREVER,
    });
  const express = app.getHttpAdapter().getInstance() as Express;
  for (const view of VIEWS)
    express.get(`/console${view}`, (request, response, next) => {
      // The paths of the application console/applications may have the form of a view.
      if (!isAboutTheService(request.path)) next();
      else if (page === undefined) response.status(404).type('text').send(NOT_BUILT);
      else sendPage(page.replace(PLACE, consoleFrom(view)), response);
    });
}

/** The path of the console relative to the URL of one of its views, because a proxy may serve it behind a prefix. */
function consoleFrom(view: string): string {
  const names = view.split('/').length - 1;
  if (names === 0) return 'console/';
  return names === 1 ? './' : '../'.repeat(names - 1);
}

function sendPage(page: string, response: Response): void {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  response.setHeader('Content-Security-Policy', policyWith(nonce));
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.type('html').send(page.replace(NONCE, nonce));
}

function pageIn(directory: string): string | undefined {
  const path = join(directory, 'index.html');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function assetsIn(directory: string): string[] {
  const path = join(directory, 'assets');
  return existsSync(path) ? readdirSync(path) : [];
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
