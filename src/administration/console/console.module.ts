import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { AdministrationModule } from '../http/index.js';
import { AuthModule } from '../../auth/index.js';
import { sessionModels } from './plain.js';
import { SessionController } from './session.controller.js';
import { Sessions } from './sessions.js';

/**
 * The sessions of the console. `serveConsole` serves its pages; their data comes from the administration API and the
 * feeds.
 */
@Module({
  imports: [AdministrationModule, AuthModule, MongooseModule.forFeature(sessionModels)],
  controllers: [SessionController],
  providers: [Sessions],
  exports: [AuthModule, Sessions],
})
export class ConsoleModule {}
