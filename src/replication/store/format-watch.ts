import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { FatalError, pause, within } from '../../platform/common/index.js';
import { Preparation } from '../../platform/database/index.js';
import { assertFormat, keepFormat } from './storage-format.js';

/** The pause between two checks (milliseconds). An instance that is too old ends at its next check. */
const EVERY_MS = 5000;
/** A check that takes longer is repeated (milliseconds). */
const LONGEST_MS = 3000;

/**
 * Ends an instance whose version does not know the storage format of the database (docs/upgrading.md): at its start before
 * it writes anything, and later when an operator finishes the upgrade to a newer version.
 */
@Injectable()
export class FormatWatch implements OnApplicationBootstrap, OnModuleDestroy {
  /** Rejects with a FatalError if this version may no longer run on the database. */
  readonly refused: Promise<never>;
  private refuse: (error: FatalError) => void;
  private readonly log = new Logger('StorageFormat');
  private readonly stop = new AbortController();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly preparation: Preparation,
  ) {
    this.refused = new Promise((_resolve, reject) => (this.refuse = reject));
    this.refused.catch(() => undefined);
    preparation.require(() => assertFormat(connection));
  }

  onApplicationBootstrap(): void {
    void this.preparation.done.then(
      () => this.watch(),
      () => undefined,
    );
  }

  onModuleDestroy(): void {
    this.stop.abort();
  }

  private async watch(): Promise<void> {
    const { signal } = this.stop;
    for (await pause(EVERY_MS, signal); !signal.aborted; await pause(EVERY_MS, signal)) {
      try {
        await within(LONGEST_MS, 'The check of the storage format', keepFormat(this.connection));
      } catch (error) {
        if (!(error instanceof FatalError)) continue;
        this.log.error(error.message);
        return this.refuse(error);
      }
    }
  }
}
