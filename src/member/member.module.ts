import { Module } from '@nestjs/common';
import { TrailModule } from '../trail/index.js';
import { StoreModule } from '../replication/store/index.js';
import { MemberController } from './member.controller.js';
import { MemberService } from './member.service.js';
import { MemberStore } from './member.store.js';

@Module({
  imports: [StoreModule, TrailModule],
  controllers: [MemberController],
  providers: [MemberService, MemberStore],
})
export class MemberModule {}
