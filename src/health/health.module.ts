import { type DynamicModule, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import type { Settings } from '../platform/config/index.js';
import { Gauges, MetricsController } from './metrics.controller.js';
import { MetricsPort } from './metrics-port.js';
import { HealthController } from './health.controller.js';
import { StoreModule } from '../replication/store/index.js';
import { HealthReads, Readiness } from './readiness.js';
import { RightsAtStart } from './rights-at-start.js';

@Module({})
export class HealthModule {
  static with({ metrics }: Pick<Settings, 'metrics'>): DynamicModule {
    return {
      module: HealthModule,
      imports: [StoreModule, TerminusModule.forRoot({ logger: false })],
      controllers: [HealthController, ...(metrics ? [MetricsController] : [])],
      providers: [Gauges, HealthReads, MetricsPort, Readiness, RightsAtStart],
    };
  }
}
