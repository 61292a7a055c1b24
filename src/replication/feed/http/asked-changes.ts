import {
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import Negotiator from 'negotiator';
import { actorOf } from '../../../auth/index.js';
import { SETTINGS, type Settings } from '../../../config/index.js';
import type { Kind } from '../../../record/index.js';
import { type ChangesFeed, type ChangesRequest, LINES_TYPE, nameOf } from '../page/index.js';
import { parseChanges } from './changes-parameters.js';

/** A request for `changes`: of which feed, and which page. */
export interface AskedChanges {
  feed: ChangesFeed;
  request: ChangesRequest;
}

interface Asked {
  request: Request;
  kind: Kind;
}

/** Reads what a request says about its feed and its page. Throws 400 with a sentence for each parameter that is not right. */
@Injectable()
class ChangesPipe implements PipeTransform<Asked, AskedChanges> {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  transform({ request, kind }: Asked): AskedChanges {
    const { org, app, service, channel } = request.params as Record<string, string>;
    const feed: ChangesFeed = { kind, by: channel === undefined ? { service: service! } : { channel } };
    const name = nameOf({ organizationid: org!, appid: app! }, { ...feed, shows: 'changes' });
    const { limitMax } = this.settings;
    const asked = { feed: name, limitMax, asLines: takesLines(request) };
    return { feed, request: parseChanges(request.query, asked) };
  }
}

/**
 * JSON is preferred, and given to whoever takes neither; and to the console, whose session could not be looked at again
 * while lines go on.
 */
function takesLines(request: Request): boolean {
  if (actorOf(request) !== undefined) return false;
  return new Negotiator(request).mediaType(['application/json', LINES_TYPE]) === LINES_TYPE;
}

const ofKind = createParamDecorator((kind: Kind, context: ExecutionContext): Asked => ({
  request: context.switchToHttp().getRequest<Request>(),
  kind,
}));

/** The page of `changes` that a request asks for. */
export const ChangesOf = (kind: Kind) => ofKind(kind, ChangesPipe);
