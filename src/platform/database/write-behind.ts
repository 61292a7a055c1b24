import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { within } from '../common/index.js';

/** Longest wait at shutdown for the last write (milliseconds). */
const FAREWELL_MS = 5000;

/**
 * Notes that are collected in memory and written together at an interval, so that no request and no change waits for the
 * write. Writes never overlap. The last one follows at the stop of the application, after the last request; a process that is
 * killed loses its notes since the write before.
 */
export abstract class WriteBehind implements OnModuleInit, OnApplicationShutdown {
  protected readonly log: Logger;
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private hasFailed = false;

  /** `failure` is the sentence that the log has when writing begins to fail. */
  protected constructor(
    context: string,
    private readonly everyMs: number,
    private readonly failure: string,
  ) {
    this.log = new Logger(context);
  }

  /** Writes what waits. May throw; what it has taken is then lost unless it puts it back. */
  protected abstract write(): Promise<void>;

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), this.everyMs).unref();
  }

  /** The earlier hooks of Nest run while requests are in progress. The connection to the database is closed after this one. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await within(FAREWELL_MS, 'The last notes', this.flush()).catch(() => undefined);
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
