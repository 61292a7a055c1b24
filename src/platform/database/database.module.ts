import { type DynamicModule, Global, Module } from '@nestjs/common';
import { MongooseModule, type MongooseModuleFactoryOptions } from '@nestjs/mongoose';
import { IndexKeeper } from './index-keeper.js';
import { Preparation } from './preparation.js';
import { connectionOptions, DATABASE_URI, closeDriverGaps } from './options.js';

@Global()
@Module({})
export class DatabaseModule {
  static at(uri: string): DynamicModule {
    closeDriverGaps();
    return {
      module: DatabaseModule,
      imports: [MongooseModule.forRootAsync({ useFactory: () => lazily(uri) })],
      providers: [Preparation, IndexKeeper, { provide: DATABASE_URI, useValue: uri }],
      exports: [Preparation, IndexKeeper, DATABASE_URI],
    };
  }
}

/** The port is opened before the database answers, so the preparation opens the connection and waits for it. */
function lazily(uri: string): MongooseModuleFactoryOptions {
  return { uri, lazyConnection: true, ...connectionOptions };
}
