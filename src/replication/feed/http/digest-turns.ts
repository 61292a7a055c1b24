import { Injectable } from '@nestjs/common';
import { problems } from '../../../http/index.js';

/** A digest reads all records of a service, so this instance makes one at a time for each credential. */
@Injectable()
export class DigestTurns {
  private readonly busy = new Set<string>();

  /** Throws 429 `digest-busy` while another one of the same user name is under way. */
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
