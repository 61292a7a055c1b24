import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiProperty, ApiResponse, ApiSchema } from '@nestjs/swagger';
import { LEVELS } from '../../auth/index.js';
import { KIND_NAME } from '../../kinds/index.js';

const TIME = { type: 'string', format: 'date-time', example: '2027-01-31T18:00:00.000Z' } as const;
const ANY = { type: 'object', additionalProperties: true } as const;

class Named {
  @ApiProperty({ example: 'acme' })
  organizationid: string;

  @ApiProperty({ example: 'webshop' })
  appid: string;
}

@ApiSchema({ name: 'Scope', description: 'The applications; `*` matches all' })
export class ScopeShape extends Named {}

@ApiSchema({ name: 'Application' })
export class ApplicationShape extends Named {
  @ApiProperty({ required: false, example: 'Webshop' })
  title?: string;

  @ApiProperty({ ...ANY, selfRequired: false })
  settings?: object;
}

@ApiSchema({ name: 'Applications' })
export class ApplicationList {
  @ApiProperty({ type: [ApplicationShape] })
  result: ApplicationShape[];
}

@ApiSchema({ name: 'Service', description: 'A named filter, and the fields that it shows' })
export class ServiceShape extends Named {
  @ApiProperty({ pattern: KIND_NAME.source, example: 'product' })
  kind: string;

  @ApiProperty({ example: 'erp' })
  name: string;

  @ApiProperty({ ...ANY, description: 'Extended JSON' })
  filter: object;

  @ApiProperty({ required: false })
  description?: string;

  @ApiProperty()
  enabled: boolean;

  @ApiProperty({ ...ANY, selfRequired: false, example: { except: ['data.email'] } })
  fields?: object;

  @ApiProperty({ required: false, type: [String], example: ['data.accountnumber'] })
  hash?: string[];

  @ApiProperty({ required: false })
  allowHiddenFilter?: boolean;

  @ApiProperty({ required: false })
  schemaExamples?: boolean;
}

@ApiSchema({ name: 'Services' })
export class ServiceList {
  @ApiProperty({ type: [ServiceShape] })
  result: ServiceShape[];

  @ApiProperty({
    required: false,
    type: 'integer',
    description:
      'Number of services that are not listed because they exceed the limits: other programs stored them',
  })
  leftOut?: number;
}

@ApiSchema({ name: 'Kind', description: 'A kind of records' })
export class KindShape {
  @ApiProperty({ example: 'order' })
  name: string;

  @ApiProperty({ example: 'orders' })
  collection: string;

  @ApiProperty({ example: 'orders' })
  plural: string;

  @ApiProperty({ example: 'id', description: 'The field that holds the `id`' })
  id: string;

  @ApiProperty({ example: 'lastupdated', description: 'The field that holds the stamp' })
  lastupdated: string;

  @ApiProperty({ required: false, example: 'acme', description: 'The organization of all records' })
  organizationid?: string;

  @ApiProperty({ required: false, example: 'webshop', description: 'The application of all records' })
  appid?: string;

  @ApiProperty({ description: 'Whether the field `channels` holds the channels of a record' })
  channels: boolean;

  @ApiProperty({
    description: 'Whether the records have a field `data`; otherwise all other fields are the data',
  })
  data: boolean;

  @ApiProperty({ description: 'Whether every deployment has this kind' })
  isBuiltIn: boolean;

  @ApiProperty({
    enum: ['ready', 'preparing', 'not valid'],
    description:
      '`preparing`: a pass over its records has not ended. `not valid`: its document cannot be used, and it is not served',
  })
  state: string;

  @ApiProperty({
    type: 'number',
    nullable: true,
    ...{ minimum: 0, maximum: 1 },
    description:
      'The fraction of the pass over its records that is done; null if it is unknown, or if no pass is due',
  })
  share: number | null;

  @ApiProperty({
    required: false,
    description: 'Why its document cannot be used, or why the pass over its records cannot begin',
  })
  fault?: string;
}

@ApiSchema({ name: 'Kinds' })
export class KindList {
  @ApiProperty({ type: [KindShape] })
  result: KindShape[];
}

@ApiSchema({ name: 'Credential' })
export class CredentialShape {
  @ApiProperty({ example: 'harvester' })
  username: string;

  @ApiProperty({ enum: [...LEVELS] })
  level: string;

  @ApiProperty({ type: [ScopeShape] })
  scopes: ScopeShape[];

  @ApiProperty({ required: false })
  disabled?: boolean;

  @ApiProperty({ ...TIME, required: false })
  expiresAt?: string;

  @ApiProperty({ ...TIME, required: false, description: 'When the previous password expires' })
  oldexpiresAt?: string;

  @ApiProperty({ description: 'Whether the credential can be used now; otherwise the reason' })
  state: string;

  @ApiProperty({ ...TIME, nullable: true })
  lastUsed: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  lastUsedFrom: string | null;

  @ApiProperty({
    required: false,
    description: 'Only in the response that creates or rotates the credential',
  })
  password?: string;
}

@ApiSchema({ name: 'Credentials' })
export class CredentialList {
  @ApiProperty({ type: [CredentialShape] })
  result: CredentialShape[];

  @ApiProperty({ ...TIME, required: false, description: 'The time since which uses are recorded' })
  usesSince?: string;
}

/** Describes a success by its schema, or as an object that contract §6 describes. */
export const Answers = (description: string, type?: new () => object, status = 200) =>
  ApiResponse({ status, description, ...(type === undefined ? { schema: ANY } : { type }) });

/** Describes the conditional request for a document that is shown without a state, and its 304. */
export const UnchangedIfTagged = (document: string) =>
  applyDecorators(
    ApiHeader({ name: 'If-None-Match', required: false, description: 'The ETag of an earlier answer' }),
    ApiResponse({
      status: 304,
      description: `The ${document} is unchanged: it has the ETag of If-None-Match`,
      headers: { ETag: { description: 'For If-Match and If-None-Match', schema: { type: 'string' } } },
    }),
  );

/** Describes a success without a body. */
export const Done = ApiResponse({ status: 204, description: 'Success, without a body' });

const number = { type: 'integer', nullable: true, description: 'Null if the time limit was reached' };

const estimateOf = (what: string) => ({
  type: 'integer',
  description: `${what}: accurate to within this many records in 95 of 100 cases; absent if exact`,
});

const group = (description: string) => ({
  type: 'object',
  description,
  required: ['count', 'ids'],
  properties: {
    count: number,
    ids: { type: 'array', items: { type: 'string' }, maxItems: 10, description: 'The first ones' },
    error: estimateOf('Margin of error of the count'),
  },
});

const plan = {
  type: 'object',
  nullable: true,
  description: 'How the matching records are found; null if the time limit was reached',
  required: ['indexes', 'readsEveryRecord', 'advice'],
  properties: {
    indexes: { type: 'array', items: { type: 'string' }, description: 'Names of the indexes that are used' },
    readsEveryRecord: { type: 'boolean', description: 'No index serves the filter' },
    advice: {
      type: 'object',
      nullable: true,
      additionalProperties: { type: 'integer' },
      example: { organizationid: 1, appid: 1, 'data.category': 1 },
      description:
        'The index to create; null if an index serves the filter, if none would, or if it exists already',
    },
  },
};

const warnings = {
  type: 'array',
  description: 'Parts of the filter that are valid but probably not intended',
  items: {
    type: 'object',
    required: ['path', 'detail'],
    properties: { path: { type: 'string', example: '$or[0].category' }, detail: { type: 'string' } },
  },
};

const samples = {
  type: 'array',
  maxItems: 3,
  description:
    'Some of the records that are delivered again if the service is saved; empty if the time limit was reached',
  items: {
    type: 'object',
    required: ['id', 'before', 'after'],
    properties: {
      id: { type: 'string', example: 'product-0001' },
      before: {
        ...ANY,
        nullable: true,
        description: 'The item as it is delivered now; null if not',
      },
      after: { ...ANY, nullable: true, description: 'The item as it would be delivered; null if not' },
    },
  },
};

/** The schema of a preview, for the OpenAPI document. */
export const PREVIEW_ANSWER = {
  type: 'object',
  required: ['records', 'matching', 'others', 'restamps', 'isCutOff', 'plan', 'warnings', 'samples'],
  properties: {
    records: number,
    matching: group('Records that match'),
    others: group('Records that do not match'),
    entering: group('Only if a filter is in force: records that would begin to match'),
    leaving: group('Only if a filter is in force: records that would cease to match'),
    concerned: group('Only if a filter is in force: records that still match and would show other fields'),
    restamps: { ...number, description: 'Records that are delivered again if the service is saved' },
    error: estimateOf('Greatest margin of error of the estimated counts'),
    isCutOff: {
      type: 'boolean',
      description: 'The time limit was reached: a count is null, or a non-empty group has no ids',
    },
    plan,
    warnings,
    samples,
  },
};
