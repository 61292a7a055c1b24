import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../common/index.js';
import { Metrics } from '../../observability/index.js';
import type { Kind } from '../../record/index.js';
import type { PresentRecord } from './present-record.js';

const REMEMBERED = 10_000;

/** Tells of what other programs wrote too large to be learned: e-mails and channels. Each record is told of once. */
@Injectable()
export class TooLarge {
  private readonly log = new Logger('Watcher');
  private readonly told = new LRUCache<string, true>(atMost(REMEMBERED));

  constructor(private readonly metrics: Metrics) {}

  see(kind: Kind, records: PresentRecord[]): void {
    if (kind === 'member') this.tell('email', 'e-mail', records);
    else this.tell('channels', 'channels', records);
  }

  private tell(what: keyof PresentRecord['tooLarge'], word: string, records: PresentRecord[]): void {
    const fresh = records
      .filter(({ tooLarge }) => tooLarge[what])
      .map(({ _id }) => String(_id))
      .filter((id) => !this.told.has(`${what} ${id}`));
    if (fresh.length === 0) return;
    for (const id of fresh) this.told.set(`${what} ${id}`, true);
    this.metrics.tooLarge.inc({ what }, fresh.length);
    this.log.warn(`${fresh.length} records have ${word} too large to be learned, such as ${fresh[0]}`);
  }
}
