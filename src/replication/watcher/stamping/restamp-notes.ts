import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { WriteBehind } from '../../../platform/database/index.js';
import { RestampBook, type StampedBulk, writeRestamps } from './restamp-book.js';

const EVERY_MS = 1000;

/**
 * Notes which records the watcher has re-stamped, to explain why a record was delivered again. Notes are written together
 * once a second. The watcher does not wait for them, and they never make it fail. A process that is killed loses the notes
 * of its last second.
 */
@Injectable()
export class RestampNotes extends WriteBehind {
  /** Whether re-stamps are noted at all. */
  readonly areWanted: boolean;
  private readonly book: RestampBook;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) { restampHistoryDays }: Settings,
  ) {
    super('Restamps', EVERY_MS, 'Notes about re-stamps cannot be written, and are lost.');
    this.areWanted = restampHistoryDays > 0;
    this.book = new RestampBook(restampHistoryDays);
  }

  note(bulk: StampedBulk): void {
    this.book.note(bulk);
  }

  /** The watcher, which depends on this provider, has stopped before the last write. */
  protected override write(): Promise<void> {
    return writeRestamps(this.connection.db!, this.book);
  }
}
