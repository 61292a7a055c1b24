import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Gauges } from './gauges.js';
import { HealthController } from './health.controller.js';
import { Looks } from './looks.js';
import { Readiness } from './readiness.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [Gauges, Looks, Readiness],
})
export class HealthModule {}
