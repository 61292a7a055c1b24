import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Problem } from './problem.js';

const answered = new WeakMap<Response, Problem>();

const JSON_TYPE = 'application/json; charset=utf-8';

const CHARACTERS = 27;

/** Every answer depends on the caller's credentials, so shared caches must not store it. */
export const UNSHARED = 'private, no-cache';

/** The problem that was sent as the response, if any. */
export function answeredProblem(response: Response): Problem | undefined {
  return answered.get(response);
}

/** Sends a problem, in the form of contract §3. */
export function answerProblem(request: Request, response: Response, problem: Problem): void {
  answered.set(response, problem);
  for (const [name, value] of Object.entries(problem.extras.headers ?? {})) response.setHeader(name, value);
  response
    .status(problem.status)
    .type('application/problem+json')
    .send(answerText(problem.body(request.id, request.traceId)));
}

/** Answers 200 with a JSON text, or 304 if the client's `If-None-Match` matches the `ETag` of the answer. */
export function sendJson(response: Response, json: string, type = JSON_TYPE): void {
  if (response.req.fresh) {
    response.status(304).end();
    return;
  }
  const text = endedLine(json);
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** The JSON text of an answer. It ends with a line break, so that a shell prompt starts on a new line. */
export function answerText(value: unknown): string {
  return endedLine(JSON.stringify(value));
}

/** A strong entity tag: a digest of the stored bytes. */
export function etagOf(raw: Uint8Array): string {
  return `"${hash('sha256', raw, 'base64url').slice(0, CHARACTERS)}"`;
}

/**
 * Sets the entity tag of an answer, and asks proxies not to transform the answer. A proxy that compresses it makes
 * the tag a weak one, which matches no `If-Match`. nginx ignores this request.
 */
export function tag(response: ServerResponse, etag: string): void {
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', `${UNSHARED}, no-transform`);
}

/** Whether `If-Match` allows a write to a resource with this entity tag. Weak tags never match (RFC 9110 §13.1.1). */
export function allows(ifMatch: string | undefined, etag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  const tags: string[] = ifMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.includes(etag);
}

/** The content of one path. */
interface ServedBytes {
  /** With the dot, such as `.css`. */
  type: string;
  /** Called for the first request. */
  read: () => Uint8Array | string;
  cacheControl?: string;
}

/**
 * Serves constant bytes from memory under exactly one path. A static folder would accept other spellings of its
 * paths, and would hold a file descriptor for each answer that the client does not read.
 */
export function serveBytes(app: INestApplication, path: string, served: ServedBytes): void {
  const { type, read, cacheControl = UNSHARED } = served;
  let known: { bytes: Buffer; etag: string } | undefined;
  app.getHttpAdapter().get(path, (_request: Request, response: Response) => {
    known ??= withTag(Buffer.from(read()));
    response.set({ ETag: known.etag, 'Cache-Control': cacheControl }).type(type).send(known.bytes);
  });
}

function endedLine(json: string): string {
  return `${json}\n`;
}

function withTag(bytes: Buffer): { bytes: Buffer; etag: string } {
  return { bytes, etag: etagOf(bytes) };
}
