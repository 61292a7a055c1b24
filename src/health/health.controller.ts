import { Controller, Get, Res } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiSchema,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '@nestjs/swagger';
import { type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import type { Response } from 'express';
import { Public } from '../auth/index.js';
import { Readiness } from './readiness.js';

/** The results of the checks, by name. */
const checks = {
  type: 'object' as const,
  additionalProperties: {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['up', 'down'] } },
    additionalProperties: true,
  },
};

@ApiSchema({ description: 'The process answers' })
class Liveness {
  @ApiProperty({ enum: ['ok'] })
  status: 'ok';
}

@ApiSchema({
  name: 'Readiness',
  description: 'Whether feeds and writes are served, and the results of the checks',
})
class ReadinessShape {
  @ApiProperty({ enum: ['ok', 'error', 'shutting_down'] })
  status: string;

  @ApiProperty({ ...checks, selfRequired: false, description: 'The checks that passed' })
  info?: object;

  @ApiProperty({ ...checks, selfRequired: false, description: 'The checks that failed' })
  error?: object;

  @ApiProperty({ ...checks, description: 'All checks' })
  details: object;
}

/** Health checks for load balancers (contract §5), without credentials. */
@ApiTags('operation')
@Public()
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: Readiness,
  ) {}

  @Get('live')
  @ApiOperation({ summary: 'Whether the process answers' })
  @ApiOkResponse({ description: 'The process answers', type: Liveness })
  getLiveness(): Liveness {
    return { status: 'ok' };
  }

  @Get('ready')
  @ApiOperation({ summary: 'Whether feeds and writes are served' })
  @ApiOkResponse({ description: 'Ready', type: ReadinessShape })
  @ApiServiceUnavailableResponse({ description: 'Not ready', type: ReadinessShape })
  async getReadiness(@Res() response: Response): Promise<void> {
    const result = await this.health
      .check([
        () => this.readiness.database(),
        () => this.readiness.indexes(),
        () => this.readiness.replication(),
      ])
      .catch((error: { getResponse(): HealthCheckResult }) => error.getResponse());
    const status = this.readiness.isStopping ? 'shutting_down' : result.status;
    response.status(status === 'ok' ? 200 : 503).json({ ...result, status });
  }
}
