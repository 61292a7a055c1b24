import {
  createParamDecorator,
  type ExecutionContext,
  applyDecorators,
  Controller,
  Get,
  Injectable,
  Param,
  Res,
  type Type,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiQuery, ApiSchema, ApiTags } from '@nestjs/swagger';
import { capitalized, type Parsed, shown } from '../../../platform/common/index.js';
import { ProblemOr, Problems, readParameters } from '../../../platform/http/index.js';
import { type DigestRequest, Digests } from '../page/digests.js';
import { requiredTo } from './parameters.js';
import { InApplication, type Application, CurrentApplication } from '../../../application/index.js';
import { SelectedBy, TIMESTAMP } from './openapi.js';
import { callerOf } from '../../../auth/index.js';
import type { Kind } from '../../../kinds/index.js';
import { Documented, KIND_ROUTES, KindOf, type KindRoute, pluralOf } from './kind-route.js';
import { Answers, DigestTurns } from './answer.js';

/** One byte identifies a bucket. */
const MOST_BUCKETS = 256;
/** The maximum number of buckets whose records one request can list. */
const MOST_LISTED = 64;
const NUMBER = /^\d{1,3}$/;

/** Parses the query string of a digest. Throws 400 with a sentence for each invalid parameter. */
export function parseDigest(query: Record<string, unknown>): DigestRequest {
  return readParameters(query, (read, errors) => {
    const to = requiredTo(read);
    const buckets = read('buckets', parseBuckets) ?? MOST_BUCKETS;
    const listed = listedIn(query['bucket'], buckets);
    if ('error' in listed) errors.push({ parameter: 'bucket', detail: listed.error });
    return { to, buckets, listed: 'value' in listed ? listed.value : new Set() };
  });
}

function parseBuckets(text: string): Parsed<number> {
  const buckets = numberIn(text);
  return buckets >= 1 && buckets <= MOST_BUCKETS
    ? { value: buckets }
    : {
        error: `"${shown(text)}" is not a number of buckets. Send a whole number from 1 to ${MOST_BUCKETS}, such as ${MOST_BUCKETS}.`,
      };
}

/** Parses `bucket`, the only parameter that may be repeated. */
function listedIn(sent: unknown, buckets: number): Parsed<Set<number>> {
  const texts = [sent ?? []].flat() as string[];
  if (texts.length > MOST_LISTED)
    return { error: `is given ${texts.length} times. Send it ${MOST_LISTED} times at most.` };
  const wrong = texts.find((text) => !(numberIn(text) < buckets));
  return wrong === undefined
    ? { value: new Set(texts.map(numberIn)) }
    : {
        error: `"${shown(wrong)}" is not a bucket. Send a whole number from 0 to ${buckets - 1}, such as 0.`,
      };
}

function numberIn(text: string): number {
  return NUMBER.test(text) ? Number(text) : NaN;
}

/** The digest that a request asks for. Throws 400 with a sentence for each invalid parameter. */
const AskedDigest = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  parseDigest(context.switchToHttp().getRequest<Request>().query),
);

const DIGITS = '^[0-9a-f]{32}$';

@ApiSchema({ description: 'How many records there are, and what they come to' })
class BucketDigest {
  @ApiProperty({ type: 'integer', minimum: 0 })
  count: number;

  @ApiProperty({
    pattern: DIGITS,
    example: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    description:
      'Of SHA-256 of `id`, a line break and `lastupdated` the first 16 bytes, added up as big-endian numbers modulo 2^128',
  })
  digest: string;
}

@ApiSchema({ description: 'A record of a bucket that was asked for' })
class DigestRecord {
  @ApiProperty()
  id: string;

  @ApiProperty(TIMESTAMP)
  lastupdated: string;
}

@ApiSchema({ description: 'What the records of a service come to, as of `to`' })
class ServiceDigest extends BucketDigest {
  @ApiProperty({ ...TIMESTAMP, description: 'The `to` that was used' })
  to: string;

  @ApiProperty({
    type: [BucketDigest],
    description: 'The bucket of a record is the first byte of SHA-256 of its `id` modulo `buckets`',
  })
  buckets: BucketDigest[];

  @ApiProperty({
    type: [DigestRecord],
    required: false,
    description: 'Where `bucket` was sent: the records of these buckets, in the order of `updates`',
  })
  records?: DigestRecord[];
}

/** Describes `digest`: its parameters, its answer and its errors. */
function DescribeDigest(summary: string, operationId: string) {
  return applyDecorators(
    ApiOperation({
      summary,
      operationId,
      description: 'One at a time for each credential: a second one is 429, `digest-busy`',
    }),
    InApplication(),
    SelectedBy('service'),
    ApiQuery({
      name: 'to',
      schema: TIMESTAMP,
      description:
        '`lastupdated <= to`, such as the one up to which a copy is. Read as on the first page of `updates`',
    }),
    ApiQuery({
      name: 'buckets',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 256, default: 256 },
    }),
    ApiQuery({
      name: 'bucket',
      required: false,
      isArray: true,
      schema: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 }, maxItems: 64 },
      style: 'form',
      explode: true,
      description: 'A bucket whose records are listed, less than `buckets`. May be repeated',
    }),
    ApiOkResponse({
      description: 'What the records come to',
      type: ServiceDigest,
      headers: { 'Tidemark-To': { description: 'The `to` that was used', schema: TIMESTAMP } },
    }),
    Problems(400, 401, 404, 500, 503),
    ProblemOr(
      429,
      'or a digest of this credential is under way (`digest-busy`), or too many of its pages are in work (`pages-busy`)',
    ),
  );
}

interface Asked {
  application: Application;
  request: DigestRequest;
  kind: Kind;
  service: string;
}

@Injectable()
class DigestFeeds {
  constructor(
    private readonly digests: Digests,
    private readonly turns: DigestTurns,
    private readonly answers: Answers,
  ) {}

  protected answer({ kind, service, ...asked }: Asked, response: Response): Promise<void> {
    const { username } = callerOf(response.req);
    return this.turns.take(username, () =>
      this.answers.page(response, (budget) => this.digests.open({ ...asked, budget }, kind, service)),
    );
  }
}

/** A controller of the digests of a kind, by which a consumer can prove its copy (contract §1). */
function digestsOf(route: KindRoute): Type {
  const plural = pluralOf(route);

  @ApiTags('replication')
  @Documented(route)
  @Controller(`:org/:app/api/v1/${route}`)
  class KindDigestController extends DigestFeeds {
    @Get(':service/digest')
    @DescribeDigest(
      `What the ${plural} that match the filter of the service come to, up to a time`,
      `get${capitalized(route)}Digest`,
    )
    getDigest(
      @CurrentApplication() application: Application,
      @KindOf(route) kind: Kind,
      @Param('service') service: string,
      @AskedDigest() request: DigestRequest,
      @Res() response: Response,
    ): Promise<void> {
      return this.answer({ application, request, kind, service }, response);
    }
  }
  return KindDigestController;
}

export const DIGEST_CONTROLLERS = KIND_ROUTES.map(digestsOf);
