import type { Params } from 'nestjs-pino';
import { requestIdOf } from './request-id.js';

/** JSON lines on stdout. Credentials never reach them. */
export function loggerParams(level: string): Params {
  return {
    pinoHttp: {
      level,
      genReqId: requestIdOf,
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
