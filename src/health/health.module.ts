import { type DynamicModule, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import type { Settings } from '../platform/config/index.js';
import { Gauges, MetricsController, MetricsPort } from './metrics.controller.js';
import { HealthController } from './health.controller.js';
import { StoreModule } from '../replication/store/index.js';
import { HealthReads, Readiness, RightsAtStart } from './readiness.js';

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
