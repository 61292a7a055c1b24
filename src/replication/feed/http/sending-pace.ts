import { Injectable } from '@nestjs/common';

/** How long a page waits, in milliseconds. */
@Injectable()
export class SendingPace {
  /** How long a proxy may wait for something to arrive before it gives up, less some: then a sign of life goes out. */
  signMs = 10_000;

  /** A client that does not take the next piece for so long is let go: what is held for it would be held for ever. */
  stalledMs = 120_000;
}
