import type { IncomingMessage } from 'node:http';
import { finished, type Transform } from 'node:stream';
import zlib from 'node:zlib';

/** A body has more bytes than are taken, packed or unpacked. */
export class BodyTooLargeError extends Error {}

/** The `Content-Encoding` of a body is not supported. */
export class UnknownEncodingError extends Error {}

/** A body ended before its end, or cannot be unpacked. */
export class BrokenBodyError extends Error {}

const UNPACKERS: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  ...zstd(),
};

/**
 * The bytes of a request's body, unpacked, at most `limit` of them as they come and as they are unpacked. Beyond that it
 * reads no further, and throws at once: what is still to come is not waited for. An absent body is empty.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  const unpack = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (unpack === undefined && encoding !== 'identity') throw new UnknownEncodingError();
  if (Number(request.headers['content-length']) > limit) throw new BodyTooLargeError();
  const bytes = await collected(request, limit);
  return unpack === undefined ? bytes : unpacked(bytes, unpack(), limit);
}

/** What a request sends, to its end. Its `data` is listened to by hand: leaving an iteration early would destroy it. */
function collected(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const take = (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > limit) end(() => reject(new BodyTooLargeError()));
      else pieces.push(piece);
    };
    const stopWatching = finished(request, { writable: false }, (error) =>
      end(() => (error ? reject(new BrokenBodyError()) : resolve(Buffer.concat(pieces)))),
    );
    const end = (settle: () => void) => {
      request.off('data', take).pause();
      stopWatching();
      settle();
    };
    request.on('data', take);
  });
}

/** A few bytes can hold gigabytes, so they are counted as they are unpacked. */
async function unpacked(packed: Buffer, unpacker: Transform, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  unpacker.end(packed);
  try {
    for await (const piece of unpacker as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > limit) throw new BodyTooLargeError();
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof BodyTooLargeError ? error : new BrokenBodyError();
  }
  return Buffer.concat(pieces);
}

/** Node has it since 22.15. */
function zstd(): Record<string, () => Transform> {
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  return createZstdDecompress === undefined ? {} : { zstd: () => createZstdDecompress() };
}
