import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { forAtMost } from '../../../platform/common/index.js';
import { problems } from '../../../platform/http/index.js';
import { type CurrentSchema, newestDatas } from '../../schema/index.js';
import { tallyOf } from '../../transcode/index.js';
import { feedName, updatesOf } from './feed.js';
import { ItemSizes, PageBytes } from './page-bytes.js';
import { type ReadFor, ReadSlots } from './read-slots.js';

/** How many of the newest records are read. */
const NEWEST = 20;
/** A reply and what is made of it together take about this multiple of the reply. */
const WITH_ITEMS = 2;

/** For whom a schema is read. */
export type SchemaReader = Omit<ReadFor, 'limit'>;

/** How many records a sample reads: it counts as a large page. */
const OF_SAMPLE = 1000;
/** How long a sample or the examples of a schema wait for their turn (milliseconds). */
const PATIENCE_MS = 4000;

/**
 * Runs work that waits for its turn until the signal `tooLate` is aborted. Throws 503 `busy` if the turn does not come in
 * time, or not before the client disconnects.
 */
function inTime<T>(gone: AbortSignal, work: (tooLate: AbortSignal, begin: () => void) => Promise<T>) {
  let isBegun = false;
  const begin = () => void (isBegun = true);
  return forAtMost(PATIENCE_MS, gone, (tooLate) =>
    work(tooLate, begin).catch((error: unknown) => {
      throw tooLate.aborted && !isBegun ? problems.busy() : error;
    }),
  );
}

/** Takes the first sample of a schema with the read slot of a large page. Throws the errors of {@link inTime}. */
export function sampleTurn(slots: ReadSlots, { owner, gone }: SchemaReader) {
  return (sample: () => Promise<void>): Promise<void> =>
    inTime(gone, (tooLate, begin) =>
      slots.read({ limit: OF_SAMPLE, owner, gone: tooLate }, () => (begin(), sample())),
    );
}

/** Reads the newest records of a service, with a slot and the memory of a small page. */
@Injectable()
export class NewestDatas {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly bytes: PageBytes,
    private readonly slots: ReadSlots,
    private readonly sizes: ItemSizes,
  ) {}

  /** The `data` of the newest items. Throws the errors of {@link inTime}. */
  read({ served }: CurrentSchema, { owner, gone }: SchemaReader): Promise<unknown[]> {
    const { key } = served;
    const feed = feedName(key, updatesOf(key.kind, key.name));
    return inTime(gone, async (tooLate, begin) => {
      const budget = this.bytes.open(tooLate, owner);
      try {
        const least = WITH_ITEMS * this.sizes.bytesOfOne(feed);
        const room = await budget.room({ least, wanted: least * NEWEST });
        const together = Math.min(NEWEST, Math.max(1, Math.floor(room / least)));
        const noted = (documents: Uint8Array) => {
          budget.hold(WITH_ITEMS * documents.length);
          this.sizes.learn(feed, documents.length, tallyOf(documents).count);
        };
        return await this.slots.read({ limit: NEWEST, owner, gone: tooLate }, () => {
          begin();
          return newestDatas(this.connection.db!, served, NEWEST, { together, noted });
        });
      } finally {
        budget.close();
      }
    });
  }
}
