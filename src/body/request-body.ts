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
  type Type,
} from '@nestjs/common';
import type { Request } from 'express';
import { lostNumberInSteps, shown, TimeSlice } from '../common/index.js';
import { SETTINGS, type Settings } from '../config/index.js';
import { problems, whileReceiving } from '../http/index.js';

const RequestItself = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

const UNPACKERS: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  ...zstd(),
};

/** Node reads a longer one in quadratic time where blanks stand at its end. */
const LONGEST = 256;

/**
 * Reads the JSON body of a write. Pipes run after the guards, so not a byte is read before the caller's right to write is
 * decided (contract §3); the order from there is 415, 413, 400.
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

  /** How long a body takes is its client's affair: that time does not count as the service's. */
  private async read(request: Request): Promise<Buffer> {
    const response = request.res!;
    if (request.headers.expect !== undefined) response.writeContinue();
    try {
      return await whileReceiving(response, () => readBody(request, this.limit));
    } catch (error) {
      if (error instanceof BodyTooLargeError) throw problems.bodyTooLarge(this.limit);
      if (error instanceof UnknownEncodingError) throw problems.notJson();
      throw wrongBody('cannot be read to its end');
    }
  }
}

/** The same, where a request without a body stands for an empty object. */
@Injectable()
class ReadJsonIfAny extends ReadJson {
  override transform(request: Request): Promise<object> {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const isEmpty = encoding === undefined && (length === undefined || Number(length) === 0);
    return isEmpty ? Promise.resolve({}) : super.transform(request);
  }
}

/** The JSON object that a request carries, through the pipe that checks and shapes it. */
export const RequestBody = (shape: Type<PipeTransform> | PipeTransform) => RequestItself(ReadJson, shape);

/** The same; a request without a body carries an empty object. */
export const OptionalRequestBody = (shape: Type<PipeTransform> | PipeTransform) =>
  RequestItself(ReadJsonIfAny, shape);

/** A body has more bytes than are taken, packed or unpacked. */
class BodyTooLargeError extends Error {}

/** The `Content-Encoding` of a body is not supported. */
class UnknownEncodingError extends Error {}

/** A body ended before its end, or cannot be unpacked. */
class BrokenBodyError extends Error {}

/** Whether a `Content-Type` promises JSON in UTF-8: `application/json`, or any `application/…+json`. */
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
  const text = textOf(bytes);
  if (text.trim() === '') throw wrongBody('is empty');
  const body = parsed(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw wrongBody('is not a JSON object');
  await assertNumbersKept(text);
  return body;
}

/** What is stored must be what was sent: a number that was read as another one is not. */
async function assertNumbersKept(text: string): Promise<void> {
  const lost = await new TimeSlice().take(lostNumberInSteps(text));
  if (lost === undefined) return;
  const detail = `holds the number ${shown(lost.written)}, which cannot be kept as it is written. Send one such as 42; a filter keeps all digits of {"$numberLong": "9007199254740993"}.`;
  throw problems.invalidRequest([{ pointer: lost.pointer, detail }]);
}

function textOf(bytes: Buffer): string {
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
 * The bytes of a request's body, unpacked, at most `limit` of them as they come and as they are unpacked. Beyond that it
 * reads no further, and throws at once: what is still to come is not waited for. An absent body is empty.
 */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
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
