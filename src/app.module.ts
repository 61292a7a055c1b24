import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AdministrationModule } from './administration/http/index.js';
import { ApplicationGuard, ApplicationModule } from './application/index.js';
import { AuthModule, BasicGuard, LevelGuard } from './auth/index.js';
import { ConfigModule, type Settings } from './platform/config/index.js';
import { ConsoleModule, SessionGuard } from './administration/console/index.js';
import { ControlModule } from './platform/control/index.js';
import { databaseProblem, DatabaseModule } from './platform/database/index.js';
import { HealthModule } from './health/index.js';
import { Problem } from './platform/http/index.js';
import { MemberModule } from './member/index.js';
import { ObservabilityModule, type Tracing } from './platform/observability/index.js';
import { FeedModule } from './replication/feed/index.js';
import { StoreModule, FirstPassGuard, KindsGuard } from './replication/store/index.js';
import { WatcherModule } from './replication/watcher/index.js';

/**
 * The whole service. Guards run in this order: 401, 404 application, 403 (contract §3), then 503 `preparing`. The last
 * guard reads the kinds and refuses nothing.
 */
@Module({})
export class AppModule {
  static with(settings: Settings, mongodbUri: string, tracing: Tracing): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.with(settings),
        ObservabilityModule.with(settings, tracing, isOutage),
        DatabaseModule.at(mongodbUri),
        ControlModule,
        AuthModule,
        ApplicationModule,
        MemberModule,
        StoreModule,
        WatcherModule,
        FeedModule,
        HealthModule.with(settings),
        AdministrationModule,
        ConsoleModule,
      ],
      providers: [
        { provide: APP_GUARD, useClass: SessionGuard },
        { provide: APP_GUARD, useClass: BasicGuard },
        { provide: APP_GUARD, useClass: ApplicationGuard },
        { provide: APP_GUARD, useClass: LevelGuard },
        { provide: APP_GUARD, useClass: FirstPassGuard },
        { provide: APP_GUARD, useClass: KindsGuard },
      ],
    };
  }
}

/** Whether an error is an outage: a request that fails with it is answered 503. Background work has such errors too. */
function isOutage(error: unknown): boolean {
  return (error instanceof Problem ? error : databaseProblem(error))?.status === 503;
}
