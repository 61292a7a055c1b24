import { Body, Controller, Get, Param, Patch, Post, Query, Req, UseGuards } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { FeedQuery } from '../feed/feed-query.dto.js';
import type { FeedPage } from '../feed/feed.js';
import { CreateMemberDto, type MemberDto, PatchMemberDto } from './member.dto.js';
import { MembersService } from './members.service.js';

@Controller(':org/:app/api')
@UseGuards(AuthGuard('basic'))
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Get('v1/member/max')
  max(@Param('org') org: string, @Param('app') app: string): Promise<{ offset: Date }> {
    return this.members.max({ org, app });
  }

  @Get('v1/member/default/updates')
  updates(
    @Param('org') org: string,
    @Param('app') app: string,
    @Query() query: FeedQuery,
  ): Promise<FeedPage<MemberDto>> {
    return this.members.updates({ org, app }, query);
  }

  @Post('v0.1/member')
  create(
    @Param('org') org: string,
    @Param('app') app: string,
    @Req() request: { user: { username: string } },
    @Body() body: CreateMemberDto,
  ): Promise<MemberDto> {
    return this.members.create({ org, app }, request.user.username, body);
  }

  @Patch('v0.1/member/:id')
  patch(
    @Param('org') org: string,
    @Param('app') app: string,
    @Param('id') id: string,
    @Body() body: PatchMemberDto,
  ): Promise<MemberDto> {
    return this.members.patch({ org, app }, id, body);
  }
}
