import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** What one look came to, with more of what it saw. */
const looks = {
  type: 'object' as const,
  additionalProperties: {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['up', 'down'] } },
    additionalProperties: true,
  },
};

@ApiSchema({ description: 'The process answers' })
export class Liveness {
  @ApiProperty({ enum: ['ok'] })
  status: 'ok';
}

@ApiSchema({ name: 'Readiness', description: 'Whether feeds and writes are served, and what was looked at' })
export class ReadinessShape {
  @ApiProperty({ enum: ['ok', 'error', 'shutting_down'] })
  status: string;

  @ApiProperty({ ...looks, selfRequired: false, description: 'What is up' })
  info?: object;

  @ApiProperty({ ...looks, selfRequired: false, description: 'What is down' })
  error?: object;

  @ApiProperty({ ...looks, description: 'Both' })
  details: object;
}
