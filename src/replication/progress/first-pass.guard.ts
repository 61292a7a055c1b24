import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Level, NEEDED_LEVEL, reaches } from '../../auth/index.js';
import { problems } from '../../http/index.js';
import { FirstPass } from './first-pass.js';

/**
 * 503 `preparing` for writes until the first pass has ended: before, members of other programs have no `emailkey` yet,
 * and a new member could take an e-mail that somebody has. That a first pass has ended stays true, so it is asked once.
 */
@Injectable()
export class FirstPassGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly firstPass: FirstPass,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const needed = this.reflector.getAllAndOverride<Level | undefined>(NEEDED_LEVEL, [
      context.getHandler(),
      context.getClass(),
    ]);
    const mayWrite = needed !== undefined && reaches(needed, 'write');
    if (!mayWrite || (await this.firstPass.hasEnded())) return true;
    throw problems.preparing();
  }
}
