import type { IncomingMessage } from 'node:http';
import { finished, type Transform } from 'node:stream';
import { MIMEType } from 'node:util';
import zlib from 'node:zlib';
import {
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import { lostNumberInSteps, shown, type Steps, TimeSlice } from '../common/index.js';
import { SETTINGS, type Settings } from '../config/index.js';
import { whileReceiving } from './answer.js';
import { problems } from './problems.js';

const RequestItself = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

const UNPACKERS: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  ...zstd(),
};

/** Maximum length of a `Content-Type`: Node parses one with many trailing blanks in quadratic time. */
const LONGEST = 256;

/**
 * Reads the JSON body of a write. Pipes run after the guards, so no byte is read before the caller's right to write
 * has been checked (contract §3). The order of further checks is 415, 413, 400.
 */
@Injectable()
class ReadJson implements PipeTransform<Request, Promise<object>> {
  private readonly limit: number;

  constructor(@Inject(SETTINGS) settings: Settings) {
    this.limit = settings.bodyLimit;
  }

  async transform(request: Request): Promise<object> {
    if (!isJson(request.headers['content-type'])) throw problems.notJson();
    return await objectIn(await this.read(request));
  }

  /** The time to receive a body depends on the client, so it does not count toward the service's time limit. */
  private async read(request: Request): Promise<Buffer> {
    const response = request.res!;
    // A client of HTTP/1.0 would take it for the answer (RFC 9110 §10.1.1).
    if (request.headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
    try {
      return await whileReceiving(response, () => readBody(request, this.limit));
    } catch (error) {
      if (error instanceof BodyTooLargeError) throw problems.bodyTooLarge(this.limit);
      if (error instanceof UnknownEncodingError) throw problems.notJson();
      throw wrongBody('cannot be read to its end');
    }
  }
}

/** Like ReadJson, but a request without a body is an empty object. */
@Injectable()
class ReadJsonIfAny extends ReadJson {
  override transform(request: Request): Promise<object> {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const isEmpty = encoding === undefined && (length === undefined || Number(length) === 0);
    return isEmpty ? Promise.resolve({}) : super.transform(request);
  }
}

/** Validates the JSON object of a request and returns what the route works with; throws a 400. */
type BodyReader = (body: object) => Steps<unknown>;

/** The JSON object in a request, as `read` returns it. */
export const RequestBody = (read: BodyReader) => RequestItself(ReadJson, inTurns(read));

/** Like {@link RequestBody}, but a request without a body is an empty object. */
export const OptionalRequestBody = (read: BodyReader) => RequestItself(ReadJsonIfAny, inTurns(read));

/** A pipe that yields to other requests between the steps. */
function inTurns(read: BodyReader): PipeTransform<object, Promise<unknown>> {
  return { transform: (body) => new TimeSlice().take(read(body)) };
}

/** A body exceeds the limit, compressed or decompressed. */
class BodyTooLargeError extends Error {}

/** The `Content-Encoding` of a body is not supported. */
class UnknownEncodingError extends Error {}

/** A body is incomplete or cannot be decompressed. */
class BrokenBodyError extends Error {}

/** Whether a `Content-Type` means JSON in UTF-8: `application/json`, or any `application/…+json`. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType.length > LONGEST) return false;
  try {
    const { type, subtype, params } = new MIMEType(contentType);
    const charset = params.get('charset') ?? 'utf-8';
    const isJsonType = subtype === 'json' || subtype.endsWith('+json');
    return type === 'application' && isJsonType && charset.toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}

async function objectIn(bytes: Buffer): Promise<object> {
  const text = decoded(bytes);
  if (text.trim() === '') throw wrongBody('is empty');
  const body = parsed(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw wrongBody('is not a JSON object');
  await assertNumbersKept(text);
  return body;
}

/** Refuses a number that JavaScript would change: the stored value must be the one that was sent. */
async function assertNumbersKept(text: string): Promise<void> {
  const lost = await new TimeSlice().take(lostNumberInSteps(text));
  if (lost === undefined) return;
  const detail = `contains the number ${shown(lost.written)}, which would be stored as a different number. Send a number such as 42; a filter keeps all digits of {"$numberLong": "9007199254740993"}.`;
  throw problems.invalidRequest([{ pointer: lost.pointer, detail }]);
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw wrongBody('is not UTF-8');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const place = /position \d+/.exec((error as Error).message)?.[0];
    throw wrongBody(place === undefined ? 'is not valid JSON' : `is not valid JSON at ${place}`);
  }
}

function wrongBody(what: string): Error {
  const detail = `${what}. Send one object, such as {"email": "ann@example.com"}.`;
  return problems.invalidRequest([{ pointer: '', detail }]);
}

/**
 * Reads the bytes of a request's body and decompresses them. The limit applies to the compressed and to the
 * decompressed size. Above it, reading stops and the error is thrown at once. An absent body is empty.
 */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  const unpack = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (unpack === undefined && encoding !== 'identity') throw new UnknownEncodingError();
  if (Number(request.headers['content-length']) > limit) throw new BodyTooLargeError();
  const bytes = await collected(request, limit);
  return unpack === undefined ? bytes : unpacked(bytes, unpack(), limit);
}

/**
 * Reads a request to its end. Uses a `data` listener, because leaving an async iteration early would destroy the
 * request.
 */
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

/** A few bytes may decompress to gigabytes, so the size is checked during decompression. */
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

/** zstd is available since Node 22.15. */
function zstd(): Record<string, () => Transform> {
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  return createZstdDecompress === undefined ? {} : { zstd: () => createZstdDecompress() };
}
