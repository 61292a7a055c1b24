import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { accessOf, reaches } from '../../auth/index.js';
import { FirstPass } from './first-pass.js';
import { ProgressReader } from './progress-reader.js';

/**
 * 503 `preparing` for writes until the first pass has ended: before, members of other programs have no `emailkey` yet,
 * and a new member could take an e-mail that somebody has. That a first pass has ended stays true, so it is asked once.
 */
@Injectable()
export class FirstPassGuard implements CanActivate {
  constructor(
    private readonly firstPass: FirstPass,
    private readonly progress: ProgressReader,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { needed, isAbove } = accessOf(context);
    return isAbove || needed === undefined || !reaches(needed, 'write') || this.assertEnded(context);
  }

  private async assertEnded(context: ExecutionContext): Promise<true> {
    const { org, app } = context.switchToHttp().getRequest<Request>().params as Record<'org' | 'app', string>;
    const tenant = { organizationid: org, appid: app };
    if (await this.firstPass.hasEnded(tenant)) return true;
    // Throws during a pass: that one may have ended by now.
    await this.progress.read(tenant);
    return true;
  }
}
