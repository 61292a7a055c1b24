import { isUtf8 } from 'node:buffer';
import { MIMEType } from 'node:util';
import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { json, type Request, type RequestHandler, type Response } from 'express';
import type { Observable } from 'rxjs';
import { type Problem, problems } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';

const EMPTY = 'is empty';
const NO_UTF8 = 'is no UTF-8';

/** What body-parser reports. */
interface ReadError extends Error {
  status?: number;
  type?: string;
}

/**
 * Reads the JSON body of a write. Interceptors run after the guards, so not a byte is parsed before the caller's
 * right to write is decided (contract §3); the order from there is 415, 413, 400.
 */
@Injectable()
export class JsonBody implements NestInterceptor {
  private readonly read: RequestHandler;
  private readonly limit: number;

  constructor(@Inject(SETTINGS) settings: Settings) {
    this.limit = settings.bodyLimit;
    this.read = json({ limit: this.limit, type: () => true, verify: assertText });
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    if (!isJson(request.headers['content-type'])) throw problems.notJson();
    const response = context.switchToHttp().getResponse<Response>();
    this.refuseTooLarge(request, response);
    await this.parse(request, response);
    const body: unknown = request.body;
    if (body === undefined) throw wrongBody(EMPTY);
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw wrongBody('is no JSON object');
    return next.handle();
  }

  /** The parser would read a body to its end before it refused it. A packed one is measured while it is unpacked. */
  private refuseTooLarge({ headers }: Request, response: Response): void {
    const isPacked = (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
    if (isPacked || !(Number(headers['content-length']) > this.limit)) return;
    response.setHeader('Connection', 'close');
    throw problems.bodyTooLarge(this.limit);
  }

  private async parse(request: Request, response: Response): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      void this.read(request, response, (error?: unknown) =>
        error === undefined ? resolve() : reject(this.problemOf(error as ReadError)),
      );
    });
  }

  private problemOf({ status, type, message }: ReadError): Problem {
    if (status === 415) return problems.notJson();
    if (status === 413) return problems.bodyTooLarge(this.limit);
    if (type === 'entity.verify.failed') return wrongBody(message);
    if (type !== 'entity.parse.failed') return wrongBody('cannot be read to its end');
    const place = /position \d+/.exec(message)?.[0];
    return wrongBody(place === undefined ? 'is not valid JSON' : `is not valid JSON at ${place}`);
  }
}

function wrongBody(what: string): Problem {
  const detail = `${what}. Send one object, such as {"email": "ann@example.com"}.`;
  return problems.invalidRequest([{ pointer: '', detail }]);
}

function isJson(contentType: string | undefined): boolean {
  try {
    const { type, subtype, params } = new MIMEType(contentType ?? '');
    const charset = params.get('charset') ?? 'utf-8';
    return type === 'application' && /(^|\+)json$/.test(subtype) && charset.toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}

/** Left to itself the parser takes an empty body for `{}` and puts U+FFFD where the bytes are no UTF-8. */
function assertText(_request: unknown, _response: unknown, body: Buffer): void {
  if (body.toString().trim() === '') throw new Error(EMPTY);
  if (!isUtf8(body)) throw new Error(NO_UTF8);
}
