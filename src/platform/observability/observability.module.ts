import { type DynamicModule, Module } from '@nestjs/common';
import { type LogSettings, ServiceLogger } from './logging.js';
import { type IsOutage } from './failures.js';
import { Metrics } from './metrics.js';

@Module({})
export class ObservabilityModule {
  static with(settings: LogSettings, isOutage?: IsOutage): DynamicModule {
    return {
      module: ObservabilityModule,
      global: true,
      providers: [Metrics, { provide: ServiceLogger, useValue: new ServiceLogger(settings, { isOutage }) }],
      exports: [Metrics, ServiceLogger],
    };
  }
}
