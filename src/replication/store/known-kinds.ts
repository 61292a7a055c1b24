import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { pause, SharedReads } from '../../platform/common/index.js';
import { Preparation } from '../../platform/database/index.js';
import { problems } from '../../platform/http/index.js';
import { isKind, isKindOf, type Kind, KINDS } from '../../kinds/index.js';
import { readKinds, type Tenant } from '../../record/index.js';

/** How often every instance reads the kinds (milliseconds): it knows a new one within two seconds. */
const EVERY_MS = 1000;
/** A path with an unknown kind reads them again at most this often (milliseconds). */
const AGAIN_MS = 200;

/** A kind of records of an application. */
export interface KindAsked extends Tenant {
  kind: Kind;
}

/** Keeps the kinds of this process as the database has them (contract §8). */
@Injectable()
export class KnownKinds implements OnModuleDestroy {
  private readonly log = new Logger('Kinds');
  private readonly shared = new SharedReads<void>();
  private readonly stop = new AbortController();
  private readAt = -Infinity;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    preparation: Preparation,
  ) {
    preparation.require(() => this.refresh());
    void preparation.done.then(() => this.keep()).catch(() => undefined);
  }

  onModuleDestroy(): void {
    this.stop.abort();
  }

  /** Throws 404 `unknown-kind` for a kind that does not exist, or that another application has for itself. */
  async assertKnown({ kind, organizationid, appid }: KindAsked): Promise<void> {
    if (!isKind(kind) && performance.now() - this.readAt > AGAIN_MS) await this.refresh();
    if (!isKindOf(kind, { organizationid, appid })) throw problems.unknownKind(kind);
  }

  /** Reads the kinds. Concurrent callers share one query. */
  refresh(): Promise<void> {
    return this.shared.share(KINDS, () => this.read());
  }

  private async read(): Promise<void> {
    this.readAt = performance.now();
    if (await readKinds(this.connection)) this.log.log('The kinds of records are others than before');
  }

  private async keep(): Promise<void> {
    while (!this.stop.signal.aborted) {
      await pause(EVERY_MS, this.stop.signal);
      if (!this.stop.signal.aborted)
        await this.refresh().catch((error: unknown) =>
          this.log.debug({ err: error }, 'The kinds cannot be read'),
        );
    }
  }
}
