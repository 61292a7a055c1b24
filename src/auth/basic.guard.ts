import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { problems } from '../http/index.js';
import type { Credential } from './credential.js';
import { IS_PUBLIC } from './decorators.js';
import { LoginLimiter } from './login-limiter.js';

/** 401 unless the route says @Public or the login is right. */
@Injectable()
export class BasicGuard extends AuthGuard('basic') {
  constructor(
    private readonly reflector: Reflector,
    private readonly limiter: LoginLimiter,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    await super.canActivate(context);
    const { user } = context.switchToHttp().getRequest<Request>();
    this.limiter.countRequest((user as Credential).username);
    return true;
  }

  override handleRequest<User>(error: Error | null, user: User | false): User {
    if (error !== null) throw error;
    if (user === false) throw problems.unauthorized();
    return user;
  }
}
