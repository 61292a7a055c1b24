import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { problems } from '../http/index.js';
import { reaches } from './credential.js';
import { accessOf, callerOf } from './decorators.js';

/** 403 where the credential's level does not reach what the route needs. */
@Injectable()
export class LevelGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { isPublic, needed } = accessOf(context);
    if (isPublic || needed === undefined) return true;
    if (!reaches(callerOf(context.switchToHttp().getRequest<Request>()).level, needed))
      throw problems.levelMissing(needed);
    return true;
  }
}
