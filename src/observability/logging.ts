import { Injectable } from '@nestjs/common';
import { Logger, type Params } from 'nestjs-pino';

const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** What Nest tells of its own start is for its developers: level debug. */
@Injectable()
export class ServiceLogger extends Logger {
  override log(message: unknown, ...rest: unknown[]): void {
    if (FRAMEWORK.has(String(rest.at(-1)))) super.debug(message, ...rest);
    else super.log(message, ...rest);
  }
}

/** JSON lines on stdout. Credentials never reach them. */
export function loggerParams(level: string): Params {
  return {
    pinoHttp: {
      level,
      genReqId: (request) => request.id,
      redact: ['req.headers.authorization', 'req.headers.cookie'],
      serializers: {
        req: (request: { id: string; method: string; url: string }) => ({
          id: request.id,
          method: request.method,
          url: request.url,
        }),
        res: (response: { statusCode: number }) => ({ statusCode: response.statusCode }),
      },
      customLogLevel: (_request, response, error) =>
        error !== undefined || response.statusCode >= 500 ? 'error' : 'info',
      autoLogging: { ignore: (request) => request.url?.startsWith('/health/') ?? false },
    },
  };
}
