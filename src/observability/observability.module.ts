import { Global, Module } from '@nestjs/common';
import { ServiceLogger } from './logging.js';
import { Metrics } from './metrics.js';

@Global()
@Module({ providers: [Metrics, ServiceLogger], exports: [Metrics, ServiceLogger] })
export class CommonModule {}
