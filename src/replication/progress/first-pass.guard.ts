import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { accessOf, reaches } from '../../auth/index.js';
import { problems } from '../../http/index.js';
import { FirstPass } from './first-pass.js';

/**
 * 503 `preparing` for writes until the first pass has ended: before, members of other programs have no `emailkey` yet,
 * and a new member could take an e-mail that somebody has. That a first pass has ended stays true, so it is asked once.
 */
@Injectable()
export class FirstPassGuard implements CanActivate {
  constructor(private readonly firstPass: FirstPass) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { needed, isAbove } = accessOf(context);
    return isAbove || needed === undefined || !reaches(needed, 'write') || this.assertEnded();
  }

  private async assertEnded(): Promise<true> {
    if (await this.firstPass.hasEnded()) return true;
    throw problems.preparing();
  }
}
