import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnModuleInit,
} from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { within } from '../../../platform/common/index.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { RestampBook, type StampedBulk, writeRestamps } from './restamp-book.js';

const EVERY_MS = 1000;
/** Longest wait at shutdown for the last notes (milliseconds). */
const FAREWELL_MS = 2000;

/**
 * Notes which records the watcher has re-stamped, to explain why a record was delivered again. Notes are written together
 * once a second. The watcher does not wait for them, and they never make it fail. A process that is killed loses the notes
 * of its last second.
 */
@Injectable()
export class RestampNotes implements OnModuleInit, BeforeApplicationShutdown {
  private readonly log = new Logger('Restamps');
  /** Whether re-stamps are noted at all. */
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

  /** The watcher, which depends on this provider, has stopped before. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await within(FAREWELL_MS, 'The last notes', this.flush()).catch(() => undefined);
  }

  note(bulk: StampedBulk): void {
    this.book.note(bulk);
  }

  /** Writes the waiting notes. It never fails: notes that cannot be written are dropped, and the failure is logged once. */
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
