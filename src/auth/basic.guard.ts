import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { problems } from '../http/index.js';
import { accessOf, callerOf } from './decorators.js';
import { LoginLimiter } from './login-limiter.js';

/** 401 unless the route says @Public or the login is right. */
@Injectable()
export class BasicGuard extends AuthGuard('basic') {
  constructor(private readonly limiter: LoginLimiter) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(context).isPublic) return true;
    await super.canActivate(context);
    this.limiter.countRequest(callerOf(context.switchToHttp().getRequest<Request>()).username);
    return true;
  }

  override handleRequest<User>(error: Error | null, user: User | false): User {
    if (error !== null) throw error;
    if (user === false) throw problems.unauthorized();
    return user;
  }
}
