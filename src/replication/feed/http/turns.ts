import { Injectable, Inject } from '@nestjs/common';
import { problems } from '../../../platform/http/index.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';

/** A digest reads all records of a service, so this instance computes only one at a time for each credential. */
@Injectable()
export class DigestTurns {
  private readonly busy = new Set<string>();

  /** Throws 429 `digest-busy` while another digest of the same user name is in progress. */
  async take(username: string, make: () => Promise<void>): Promise<void> {
    if (this.busy.has(username)) throw problems.digestBusy();
    this.busy.add(username);
    try {
      await make();
    } finally {
      this.busy.delete(username);
    }
  }
}

/**
 * Limits the concurrent pages of each credential on this instance. A page counts from the request until the client has taken
 * the last byte. It holds memory meanwhile, and its reads slow down the pages of others.
 */
@Injectable()
export class PageTurns {
  private readonly most: number;
  private readonly inWork = new Map<string, number>();

  constructor(@Inject(SETTINGS) { credentialPages }: Pick<Settings, 'credentialPages'>) {
    this.most = credentialPages;
  }

  /** The pages of a user name that are in progress. */
  of(username: string): number {
    return this.inWork.get(username) ?? 0;
  }

  /** Throws 429 `pages-busy` if this user name has reached its limit. */
  async take(username: string, make: () => Promise<void>): Promise<void> {
    const others = this.of(username);
    if (others >= this.most) throw problems.pagesBusy(this.most);
    this.inWork.set(username, others + 1);
    try {
      await make();
    } finally {
      this.end(username);
    }
  }

  private end(username: string): void {
    const left = this.of(username) - 1;
    if (left === 0) this.inWork.delete(username);
    else this.inWork.set(username, left);
  }
}
