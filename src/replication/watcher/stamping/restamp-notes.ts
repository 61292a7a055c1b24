import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnModuleInit,
} from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { within } from '../../../common/index.js';
import { SETTINGS, type Settings } from '../../../config/index.js';
import { RestampBook, type StampedBulk, writeRestamps } from './restamp-book.js';

const EVERY_MS = 1000;
/** A stop waits no longer for the last of them. */
const FAREWELL_MS = 2000;

/**
 * What the watcher stamped anew, noted for whoever asks why a record was delivered again. It is written together once a
 * second, and the watcher does not wait for it: notes neither stop it nor make it fail. A process that is killed loses those
 * of its last second.
 */
@Injectable()
export class RestampNotes implements OnModuleInit, BeforeApplicationShutdown {
  private readonly log = new Logger('Restamps');
  /** Whether it is noted at all what was stamped anew. */
  readonly areWanted: boolean;
  private readonly book: RestampBook;
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private hasFailed = false;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) { restampHistoryDays }: Settings,
  ) {
    this.areWanted = restampHistoryDays > 0;
    this.book = new RestampBook(restampHistoryDays);
  }

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), EVERY_MS).unref();
  }

  /** The watcher, which needs this room, has ended before. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await within(FAREWELL_MS, 'The last notes', this.flush()).catch(() => undefined);
  }

  note(bulk: StampedBulk): void {
    this.book.note(bulk);
  }

  /** Writes what waits. It never fails: what cannot be written is forgotten, and told of once. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    try {
      await writeRestamps(this.connection.db!, this.book);
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed)
        this.log.warn({ err: error }, 'Notes about re-stamps cannot be written, and are lost.');
      this.hasFailed = true;
    }
  }
}
