import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import type { Response } from 'express';
import { Public } from '../auth/index.js';
import { Liveness, ReadinessShape } from './openapi.js';
import { Readiness } from './readiness.js';

/** For load balancers (contract §5); none of it needs credentials. */
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
  @ApiOkResponse({ description: 'It does', type: Liveness })
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
    response.status(result.status === 'ok' ? 200 : 503).json(result);
  }
}
