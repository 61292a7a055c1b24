import type { Response } from 'express';
import { endedLine } from './answer-text.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers 200 with a JSON text, or 304 where the client's `If-None-Match` fits the `ETag` of the answer. */
export function sendJson(response: Response, json: string): void {
  if (response.req.fresh) {
    response.status(304).end();
    return;
  }
  const text = endedLine(json);
  response.setHeader('Content-Type', JSON_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}
