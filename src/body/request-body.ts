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
import { isJson } from './content-type.js';
import { BodyTooLargeError, readBody, UnknownEncodingError } from './read-body.js';

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

const RequestItself = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

/** The JSON object that a request carries, through the pipe that checks and shapes it. */
export const RequestBody = (shape: Type<PipeTransform> | PipeTransform) => RequestItself(ReadJson, shape);

/** The same; a request without a body carries an empty object. */
export const OptionalRequestBody = (shape: Type<PipeTransform> | PipeTransform) =>
  RequestItself(ReadJsonIfAny, shape);

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
