import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { within } from '../common/index.js';

/** Longest wait at shutdown for the last write (milliseconds). */
const SHUTDOWN_MS = 5000;

/**
 * Notes that are collected in memory and written together at an interval, so that no request and no change waits for
 * the write. Writes never overlap. The last write occurs at shutdown, after the last request. A process that is killed
 * loses its notes since the previous write.
 */
export abstract class WriteBehind implements OnModuleInit, OnApplicationShutdown {
  protected readonly log: Logger;
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private hasFailed = false;

  /** `failure` is logged once when writes start to fail. */
  protected constructor(
    context: string,
    private readonly everyMs: number,
    private readonly failure: string,
  ) {
    this.log = new Logger(context);
  }

  /** Writes the pending notes. If it throws, notes that it has removed from memory are lost unless it restores them. */
  protected abstract write(): Promise<void>;

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), this.everyMs).unref();
  }

  /** Nest calls this hook after all requests have ended and before the database connection is closed. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await within(SHUTDOWN_MS, 'The last notes', this.flush()).catch(() => undefined);
  }

  /** Writes now, after a write in progress. Never fails. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.attempt());
    return this.writing;
  }

  private async attempt(): Promise<void> {
    try {
      await this.write();
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed) this.log.warn({ err: error }, this.failure);
      this.hasFailed = true;
    }
  }
}
