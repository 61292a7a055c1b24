import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
} from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { ApiBasicAuth, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Connection } from 'mongoose';
import { AboveApplications, Needs } from '../../auth/index.js';
import { TimeSlice } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { problems, sendJson, tag } from '../../http/index.js';
import { actorOf } from '../../trail/index.js';
import type { Desk } from '../index.js';
import { PreviewPlaces } from './preview-places.js';

/** What all controllers of `/admin/v1` share. */
export const Administrative = () =>
  applyDecorators(AboveApplications(), Needs('admin'), ApiTags('administration'), ApiBasicAuth());

/** Opens the desk of the sender of a request. A filter that is not tried because its client has gone is not accepted. */
@Injectable()
export class Desks {
  private readonly auditTrailDays: number;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly places: PreviewPlaces,
    @Inject(SETTINGS) { auditTrailDays }: Settings,
  ) {
    this.auditTrailDays = auditTrailDays;
  }

  of(request: Request): Desk {
    const gone = untilGone(request);
    return {
      ...{ db: this.connection.db!, actor: actorOf(request), auditTrailDays: this.auditTrailDays },
      turn: async ({ organizationid }, work, ms) => {
        const tried = await this.places.during(organizationid, gone, work, ms);
        if (tried === undefined && gone.aborted) throw problems.busy();
        return tried;
      },
    };
  }
}

/** The request itself, for the desk of its sender. */
export const Asked = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

/** Answers with a document and its entity tag. */
export function sendTagged(response: Response, document: unknown, etag: string): void {
  tag(response, etag);
  sendJson(response, JSON.stringify(document));
}

/** A list as JSON, an item at a time: megabytes of filters would keep all other requests waiting. */
export async function listText<T>(items: T[], shown: (one: T) => object): Promise<string> {
  const slice = new TimeSlice();
  const texts: string[] = [];
  for (const one of items) {
    texts.push(JSON.stringify(shown(one)));
    await slice.step();
  }
  return `[${texts.join(',')}]`;
}

/** Aborted where the client goes away before it has its answer. */
export function untilGone({ res: response }: Request): AbortSignal {
  const gone = new AbortController();
  if (response?.closed === true) gone.abort();
  else response?.once('close', () => gone.abort());
  return gone.signal;
}
