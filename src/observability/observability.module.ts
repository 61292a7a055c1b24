import { type DynamicModule, Module } from '@nestjs/common';
import { ServiceLogger } from './logging.js';
import { Metrics } from './metrics.js';

@Module({})
export class CommonModule {
  /** With log lines of a level and above, `silent` for none. */
  static with(logLevel: string): DynamicModule {
    return {
      module: CommonModule,
      global: true,
      providers: [Metrics, { provide: ServiceLogger, useValue: new ServiceLogger(logLevel) }],
      exports: [Metrics, ServiceLogger],
    };
  }
}
