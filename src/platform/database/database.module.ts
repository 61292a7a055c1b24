import { type DynamicModule, Global, Module } from '@nestjs/common';
import { MongooseModule, type MongooseModuleFactoryOptions } from '@nestjs/mongoose';
import { IndexKeeper } from './index-keeper.js';
import { Tracing } from '../observability/index.js';
import { Preparation } from './preparation.js';
import { connectionOptions, DATABASE_URI, closeDriverGaps } from './options.js';

@Global()
@Module({})
export class DatabaseModule {
  static at(uri: string): DynamicModule {
    closeDriverGaps();
    return {
      module: DatabaseModule,
      imports: [
        MongooseModule.forRootAsync({
          inject: [Tracing],
          useFactory: (tracing: Tracing) => lazily(uri, tracing),
        }),
      ],
      providers: [Preparation, IndexKeeper, { provide: DATABASE_URI, useValue: uri }],
      exports: [Preparation, IndexKeeper, DATABASE_URI],
    };
  }
}

/** The port is opened before the database answers, so the preparation opens the connection and waits for it. */
function lazily(uri: string, { isOn }: Tracing): MongooseModuleFactoryOptions {
  return { uri, lazyConnection: true, ...connectionOptions, ...(isOn && { monitorCommands: true }) };
}
