import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { ApiBasicAuth, ApiBody, ApiHeader, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Connection } from 'mongoose';
import { AboveApplications, Needs } from '../../auth/index.js';
import { OptionalRequestBody, RequestBody } from '../../body/index.js';
import { NAME_SCHEMA, TimeSlice } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { problems, sendJson, tag } from '../../http/index.js';
import { KINDS } from '../../record/index.js';
import { actorOf } from '../../trail/index.js';
import { type Desk, type Fields, schemaOf, shaped, type Shaped } from '../index.js';
import { TrialLimiter, untilGone } from './limits.js';

/** What all controllers of `/admin/v1` share. */
export const Administrative = () =>
  applyDecorators(AboveApplications(), Needs('admin'), ApiTags('administration'), ApiBasicAuth());

/** Opens the desk of the sender of a request. A filter that is not tried because its client has gone is not accepted. */
@Injectable()
export class Desks {
  private readonly auditTrailDays: number;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly trials: TrialLimiter,
    @Inject(SETTINGS) { auditTrailDays }: Settings,
  ) {
    this.auditTrailDays = auditTrailDays;
  }

  of(request: Request): Desk {
    const gone = untilGone(request);
    return {
      ...{ db: this.connection.db!, actor: actorOf(request), auditTrailDays: this.auditTrailDays },
      turn: async ({ organizationid }, work, ms) => {
        const tried = await this.trials.during(organizationid, gone, work, ms);
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

/** Reads a body by its fields. */
class ShapePipe<F extends Fields> implements PipeTransform<object, Promise<Shaped<F>>> {
  constructor(private readonly fields: F) {}

  transform(body: object): Promise<Shaped<F>> {
    return new TimeSlice().take(shaped(this.fields, body));
  }
}

/** The body of a request, as the fields describe it. */
export const Body = (fields: Fields) => RequestBody(new ShapePipe(fields));

/** The same, where no body stands for one without properties. */
export const OptionalBody = (fields: Fields) => OptionalRequestBody(new ShapePipe(fields));

/** The body for the OpenAPI document. */
export const DocumentedBody = (fields: Fields) => ApiBody({ schema: schemaOf(fields) });

export const DocumentedOptionalBody = (fields: Fields) =>
  ApiBody({ schema: schemaOf(fields), required: false });

export const NamesKind = ApiParam({
  name: 'kind',
  description: 'Which records it is about',
  schema: { type: 'string', enum: [...KINDS] },
});

export const NamesService = ApiParam({
  name: 'name',
  description: 'Name of the service; not `default`, `max` or `harddeletes`',
  schema: { ...NAME_SCHEMA, example: 'erp' },
});

export const NamesRecord = ApiParam({
  name: 'id',
  description: 'The `id` of the record',
  schema: { type: 'string', minLength: 1, example: 'product-0001' },
});

export const NamesCredential = ApiParam({
  name: 'username',
  description: 'User name of the credential',
  schema: { type: 'string', minLength: 1, example: 'harvester' },
});

/** A change is made only to what the caller has seen. */
export const TakesIfMatch = ApiHeader({
  name: 'If-Match',
  required: false,
  description: 'ETag of the version that the change is meant for',
});
