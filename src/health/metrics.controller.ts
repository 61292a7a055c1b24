import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../auth/index.js';
import { Metrics } from '../observability/index.js';
import { Gauges } from './gauges.js';

/** For so long a scrape is answered with the text of the one before (milliseconds). */
const KEPT_MS = 1000;

/** For Prometheus (contract §5), without credentials: one text is made at a time, and shared by all who ask meanwhile. */
@ApiTags('operation')
@Public()
@Controller('metrics')
export class MetricsController {
  private text: Promise<string> | undefined;

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
    this.text ??= this.made();
    response.type(this.metrics.registry.contentType).send(await this.text);
  }

  private async made(): Promise<string> {
    const forget = () => (this.text = undefined);
    try {
      await this.gauges.refresh();
      return await this.metrics.registry.metrics();
    } finally {
      setTimeout(forget, KEPT_MS).unref();
    }
  }
}
