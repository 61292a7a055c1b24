import { ApiProperty, ApiResponse, ApiSchema } from '@nestjs/swagger';
import { LEVELS } from '../../auth/index.js';
import { KINDS } from '../../record/index.js';

const TIME = { type: 'string', format: 'date-time', example: '2027-01-31T18:00:00.000Z' } as const;
const ANY = { type: 'object', additionalProperties: true } as const;

class Named {
  @ApiProperty({ example: 'acme' })
  organizationid: string;

  @ApiProperty({ example: 'webshop' })
  appid: string;
}

@ApiSchema({ name: 'Scope', description: 'Which applications; `*` for every one' })
class ScopeShape extends Named {}

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

@ApiSchema({ name: 'Service', description: 'A named filter' })
export class ServiceShape extends Named {
  @ApiProperty({ enum: [...KINDS] })
  kind: string;

  @ApiProperty({ example: 'erp' })
  name: string;

  @ApiProperty({ ...ANY, description: 'Extended JSON' })
  filter: object;

  @ApiProperty({ required: false })
  description?: string;

  @ApiProperty()
  enabled: boolean;
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

  @ApiProperty({ ...TIME, required: false, description: 'When the password before ends' })
  oldexpiresAt?: string;

  @ApiProperty({ description: 'Whether it opens anything now, or why not' })
  state: string;

  @ApiProperty({ ...TIME, nullable: true })
  lastUsed: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  lastUsedFrom: string | null;

  @ApiProperty({ required: false, description: 'Only in the answer that makes it' })
  password?: string;
}

@ApiSchema({ name: 'Credentials' })
export class CredentialList {
  @ApiProperty({ type: [CredentialShape] })
  result: CredentialShape[];

  @ApiProperty({ ...TIME, required: false, description: 'Since when uses are noted' })
  usesSince?: string;
}

@ApiSchema({ name: 'SignedIn' })
export class SignedInShape {
  @ApiProperty()
  username: string;

  @ApiProperty({ type: [ScopeShape] })
  scopes: ScopeShape[];

  @ApiProperty()
  coversAll: boolean;
}

/** Describes a success: its shape, or an object of which contract §6 tells more. */
export const Answers = (description: string, type?: new () => object, status = 200) =>
  ApiResponse({ status, description, ...(type === undefined ? { schema: ANY } : { type }) });

/** Describes a success that has nothing to tell. */
export const Done = ApiResponse({ status: 204, description: 'It is done' });
