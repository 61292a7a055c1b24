import { type DynamicModule, Module } from '@nestjs/common';
import { type LogSettings, ServiceLogger } from './logging.js';
import { type IsOutage } from './failures.js';
import { Metrics } from './metrics.js';
import { Tracing } from './tracing.js';

@Module({})
export class ObservabilityModule {
  static with(settings: LogSettings, tracing: Tracing, isOutage?: IsOutage): DynamicModule {
    const traceId = tracing.isOn ? () => tracing.traceId : undefined;
    return {
      module: ObservabilityModule,
      global: true,
      providers: [
        Metrics,
        { provide: Tracing, useValue: tracing },
        { provide: ServiceLogger, useValue: new ServiceLogger(settings, { isOutage, traceId }) },
      ],
      exports: [Metrics, ServiceLogger, Tracing],
    };
  }
}
