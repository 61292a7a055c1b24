import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { parseDigest } from './digest-parameters.js';

/** The digest that a request asks for. Throws 400 with a sentence for each parameter that is not right. */
export const AskedDigest = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  parseDigest(context.switchToHttp().getRequest<Request>().query),
);
