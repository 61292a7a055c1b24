import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { MarkModule } from '../replication/mark/index.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false }), MarkModule],
  controllers: [HealthController],
  providers: [Readiness],
})
export class HealthModule {}
