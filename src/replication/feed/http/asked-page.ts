import {
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import { SETTINGS, type Settings } from '../../../config/index.js';
import type { PageRequest } from '../page/index.js';
import { parseParameters } from './parameters.js';

/** Reads what a request says about its page. Throws 400 with a sentence for each parameter that is not right. */
@Injectable()
class PageRequestPipe implements PipeTransform<Request, PageRequest> {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  transform({ query }: Request): PageRequest {
    return { window: parseParameters(query, this.settings.limitMax) };
  }
}

const RequestItself = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

/** The page that a request asks for: the window of its parameters. */
export const AskedPage = () => RequestItself(PageRequestPipe);
