import type { INestApplication } from '@nestjs/common';
import type { Request, Response } from 'express';
import { etagOf, UNSHARED } from './etag.js';

/** What is served under one path. */
interface ServedBytes {
  /** With the dot, such as `.css`. */
  type: string;
  /** Called for the first request. */
  read: () => Uint8Array | string;
  cacheControl?: string;
}

/**
 * Serves bytes that do not change under exactly one path, out of memory: a folder has other ways to write its paths, and
 * takes a file descriptor for each answer that is not read.
 */
export function serveBytes(app: INestApplication, path: string, served: ServedBytes): void {
  const { type, read, cacheControl = UNSHARED } = served;
  let known: { bytes: Buffer; etag: string } | undefined;
  app.getHttpAdapter().get(path, (_request: Request, response: Response) => {
    known ??= withTag(Buffer.from(read()));
    response.set({ ETag: known.etag, 'Cache-Control': cacheControl }).type(type).send(known.bytes);
  });
}

function withTag(bytes: Buffer): { bytes: Buffer; etag: string } {
  return { bytes, etag: etagOf(bytes) };
}
