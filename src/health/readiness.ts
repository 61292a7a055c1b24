import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import type { Connection } from 'mongoose';
import { Preparation } from '../database/index.js';
import { Moments } from '../replication/mark/index.js';

/** What must be true before a load balancer sends anybody here. */
@Injectable()
export class Readiness {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly indicators: HealthIndicatorService,
    private readonly preparation: Preparation,
    private readonly moments: Moments,
  ) {}

  async database(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('database');
    if (!this.preparation.isComplete) return indicator.down({ state: 'preparing' });
    return this.connection.db!.command({ ping: 1 }).then(
      () => indicator.up(),
      () => indicator.down({ state: 'away' }),
    );
  }

  async replication(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('replication');
    return this.moments.current().then(
      () => indicator.up(),
      () => indicator.down({ state: 'preparing' }),
    );
  }
}
