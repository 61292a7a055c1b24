import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { Request } from 'express';
import Negotiator from 'negotiator';

/** Less is not worth compressing (bytes). */
const LEAST_BYTES = 1024;

const { constants } = zlib;

/**
 * What a page can be compressed with, the best first, each at its cheapest level: higher ones cost more than the page
 * itself. All give out what they have after each piece, so that nobody waits for what is there.
 */
const ENCODERS: Record<string, () => Transform> = {
  ...zstd(),
  br: () =>
    zlib.createBrotliCompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    }),
  gzip: () => zlib.createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH }),
};

/** An encoding that a client takes. */
export interface Encoding {
  name: string;
  encoder: Transform;
}

/** How to compress a body of so many bytes, if they are known, for the client of a request; nothing where it is not worth it. */
export function encodingFor(request: Request, length: number | undefined): Encoding | undefined {
  if (length !== undefined && length <= LEAST_BYTES) return undefined;
  const names = Object.keys(ENCODERS);
  const name = new Negotiator(request).encoding([...names, 'identity'], { preferred: names });
  const encoder = name === undefined ? undefined : ENCODERS[name];
  return encoder && { name: name!, encoder: encoder() };
}

/** Node has it since 22.15. */
function zstd(): Record<string, () => Transform> {
  const { createZstdCompress } = zlib as { createZstdCompress?: (options: object) => Transform };
  if (createZstdCompress === undefined) return {};
  const { ZSTD_c_compressionLevel, ZSTD_e_flush } = constants as unknown as Record<string, number>;
  const params = { [ZSTD_c_compressionLevel!]: 1 };
  return { zstd: () => createZstdCompress({ flush: ZSTD_e_flush, params }) };
}
