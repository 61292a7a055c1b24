import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '@nestjs/swagger';
import { type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import type { Response } from 'express';
import { Public } from '../auth/index.js';
import { SETTINGS, type Settings } from '../config/index.js';
import { Problems, problems } from '../http/index.js';
import { Metrics } from '../observability/index.js';
import { Gauges } from './gauges.js';
import { Readiness } from './readiness.js';

/** For load balancers and Prometheus (contract §5); none of it needs credentials. */
@ApiTags('operation')
@Public()
@Controller()
export class HealthController {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly health: HealthCheckService,
    private readonly readiness: Readiness,
    private readonly gauges: Gauges,
    private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  @ApiOperation({ summary: 'Whether the process answers' })
  @ApiOkResponse({ schema: { type: 'object', properties: { status: { type: 'string', enum: ['ok'] } } } })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @ApiOperation({ summary: 'Whether feeds and writes are served' })
  @ApiOkResponse({ description: 'Ready', schema: { type: 'object' } })
  @ApiServiceUnavailableResponse({ description: 'Not ready', schema: { type: 'object' } })
  async ready(@Res() response: Response): Promise<void> {
    const result = await this.health
      .check([
        () => this.readiness.database(),
        () => this.readiness.indexes(),
        () => this.readiness.replication(),
      ])
      .catch((error: { getResponse(): HealthCheckResult }) => error.getResponse());
    response.status(result.status === 'ok' ? 200 : 503).json(result);
  }

  @Get('metrics')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Metrics for Prometheus' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ description: 'Prometheus text format', schema: { type: 'string' } })
  @Problems(404)
  async scrape(@Res() response: Response): Promise<void> {
    if (!this.settings.metrics) throw problems.notFound();
    await this.gauges.refresh();
    response.type(this.metrics.registry.contentType).send(await this.metrics.registry.metrics());
  }
}
