import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiProperty, ApiResponse, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { problemTo } from './answer.js';
import { type Fields, schemaOf } from './input.js';
import type { Problem } from './problem.js';
import { problems } from './problems.js';

@ApiSchema({ name: 'InputError', description: 'One thing that is wrong in a request' })
class InputErrorShape {
  @ApiProperty({ required: false, example: 'limit', description: 'The wrong query or path parameter' })
  parameter?: string;

  @ApiProperty({
    required: false,
    example: '/elevel',
    description: 'JSON pointer to what is wrong in the body',
  })
  pointer?: string;

  @ApiProperty({ example: 'must be a whole number from 1 to 10000, such as 1000' })
  detail: string;
}

/** The body of every error response (contract §3), as the OpenAPI document shows it. */
@ApiSchema({ name: 'Problem', description: 'Every answer that is no success (RFC 9457)' })
class ProblemShape {
  @ApiProperty({
    example: 'urn:tidemark:problem:invalid-request',
    description: '`urn:tidemark:problem:` and a name that says what the problem is',
  })
  type: string;

  @ApiProperty({ example: 'The request is not valid' })
  title: string;

  @ApiProperty({ type: 'integer', example: 400 })
  status: number;

  @ApiProperty({ example: 'Not valid: limit.' })
  detail: string;

  @ApiProperty({ description: 'Ties the answer to its log lines; also in the header X-Request-Id' })
  requestId: string;

  @ApiProperty({
    required: false,
    description: 'The id of the trace (W3C Trace Context), if the request is traced',
  })
  traceid?: string;

  @ApiProperty({ required: false, type: [InputErrorShape], description: 'On 400: what is wrong, one by one' })
  errors?: InputErrorShape[];
}

const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait: an estimate, where the progress of the work is known',
    schema: { type: 'integer' },
  },
} as const;

const answers = {
  400: { description: 'The request is not valid' },
  401: {
    description: 'No or wrong credentials',
    headers: { 'WWW-Authenticate': { description: 'Basic, in UTF-8', schema: { type: 'string' } } },
  },
  403: { description: 'The credential lacks the level or the scope that this needs' },
  404: { description: 'Unknown application, or no right to it; or what the path names is unknown' },
  409: {
    description:
      'Conflict: `type` names it, such as `email-conflict`, `member-modified`, `name-taken` or `in-use`',
  },
  410: {
    description:
      '`history-expired`: hard deletes after `from` have expired; `source-restored`: `from` or the cursor lies ahead of a ' +
      'database that was restored. Begin again without it',
  },
  412: { description: 'If-Match does not fit the ETag' },
  413: { description: 'The body is over BODY_LIMIT' },
  415: { description: 'The body is not JSON in UTF-8' },
  429: {
    description:
      'Too many failed logins, or the quota is used up, or requests of this credential are under way on as many connections as ' +
      'may be (`connections-busy`)',
    headers: RETRY_AFTER,
  },
  500: { description: 'A fault of the service or of its configuration' },
  503: {
    description:
      'The database is unavailable or slow, the changes are not processed yet, or the service is preparing, busy or not serving',
    headers: RETRY_AFTER,
  },
} as const;

type Status = keyof typeof answers;

const REQUEST_ID = '7f6c1b2e-52c1-4c44-9a3e-0d8f6b1a2c3d';

/** One problem of each status, as the service answers it. */
const examples: Record<Status, Problem> = {
  400: problems.invalidRequest([
    { parameter: 'limit', detail: 'must be a whole number from 1 to 10000, such as 1000' },
  ]),
  401: problems.unauthorized({ wereSent: false }),
  403: problems.levelMissing('write'),
  404: problems.unknownApplication(),
  409: problems.emailConflict(),
  410: problems.historyExpired('2026-10-20T10:00:00.000Z'),
  412: problems.stale(),
  413: problems.bodyTooLarge(1_048_576),
  415: problems.notJson(),
  429: problems.tooManyLogins(60),
  500: problems.internal(),
  503: problems.databaseAway(),
};

/** The 400 of a request with a body. */
export const INVALID_BODY = problems
  .invalidRequest([
    {
      pointer: '',
      detail: 'is not valid JSON. Send one object, such as {"email": "ann@example.com"}.',
    },
  ])
  .body(REQUEST_ID);

/** The 503 of a request with this method. */
export const awayExample = (method: string) =>
  problemTo(method.toUpperCase(), problems.databaseAway()).body(REQUEST_ID);

/** Describes the body of a route. With a name, its shape becomes a named schema of the document. */
export const DocumentedBody = (fields: Fields, name?: string) =>
  ApiBody({ schema: { ...schemaOf(fields), ...(name !== undefined && { title: name }) } });

/** Describes a body that may be omitted. */
export const DocumentedOptionalBody = (fields: Fields) =>
  ApiBody({ schema: schemaOf(fields), required: false });

/** Describes the error responses of a route: `@Problems(400, 401, 404)`. */
export function Problems(...statuses: Status[]) {
  return applyDecorators(...statuses.map((status) => ProblemOr(status)));
}

/** Describes one error response with an addition for this route: `@ProblemOr(429, 'or ...')`. */
export function ProblemOr(status: Status, more?: string) {
  const { description, ...answer } = answers[status];
  const schema = { $ref: getSchemaPath(ProblemShape) };
  const example = examples[status].body(REQUEST_ID);
  const content = { 'application/problem+json': { schema, example } };
  const sentence = [description, ...(more === undefined ? [] : [more])].join(', ');
  return applyDecorators(
    ApiExtraModels(ProblemShape, InputErrorShape),
    ApiResponse({ status, description: sentence, ...answer, content }),
  );
}
