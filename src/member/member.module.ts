import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { TrailModule } from '../trail/index.js';
import { StoreModule } from '../replication/store/index.js';
import { MemberController } from './member.controller.js';
import { memberModels } from './member.schema.js';
import { MemberService } from './member.service.js';
import { MemberStore } from './member.store.js';

@Module({
  imports: [StoreModule, TrailModule, MongooseModule.forFeature(memberModels)],
  controllers: [MemberController],
  providers: [MemberService, MemberStore],
  exports: [MongooseModule],
})
export class MemberModule {}
