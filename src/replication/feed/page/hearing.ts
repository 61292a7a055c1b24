import { Injectable } from '@nestjs/common';
import { settledWithin } from '../../../common/index.js';
import { Problem } from '../../../http/index.js';
import { ProgressReader } from '../../progress/index.js';

/** A query that takes longer is asked about: a look at something small tells a busy database from a frozen one (milliseconds). */
const QUIET_MS = 4000;

/** Tells a page that takes long, whose first query alone may take half a minute, from a database that does not answer. */
@Injectable()
export class Hearing {
  constructor(private readonly progress: ProgressReader) {}

  /** Resolves when the database has answered a read of the page, or anything else meanwhile. */
  async heard(answered: Promise<void>): Promise<void> {
    const inTime = await settledWithin(
      answered.then(() => true),
      QUIET_MS,
    );
    if (inTime === undefined) await Promise.race([answered, this.look()]);
  }

  /** A refusal, such as 503 `preparing`, is an answer as well. */
  private async look(): Promise<void> {
    await this.progress.readAll().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
  }
}
