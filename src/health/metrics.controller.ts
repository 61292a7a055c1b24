import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../auth/index.js';
import { Metrics } from '../observability/index.js';
import { Gauges } from './gauges.js';

/** For Prometheus (contract §5), without credentials. */
@ApiTags('operation')
@Public()
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly gauges: Gauges,
    private readonly metrics: Metrics,
  ) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Metrics for Prometheus' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ description: 'Prometheus text format', schema: { type: 'string' } })
  async getMetrics(@Res() response: Response): Promise<void> {
    await this.gauges.refresh();
    response.type(this.metrics.registry.contentType).send(await this.metrics.registry.metrics());
  }
}
