import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { problems } from '../http/index.js';
import { type Level, reaches } from './credential.js';
import { callerOf, NEEDED_LEVEL } from './decorators.js';

/** 403 where the credential's level does not reach what the route needs. */
@Injectable()
export class LevelGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const needed = this.reflector.getAllAndOverride<Level | undefined>(NEEDED_LEVEL, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (needed === undefined) return true;
    if (!reaches(callerOf(context.switchToHttp().getRequest<Request>()).level, needed)) {
      throw problems.levelMissing(needed);
    }
    return true;
  }
}
