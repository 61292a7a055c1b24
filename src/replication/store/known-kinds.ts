import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../platform/config/index.js';
import { ControlStream, type Follower } from '../../platform/control/index.js';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { pause, SharedReads } from '../../platform/common/index.js';
import { Preparation } from '../../platform/database/index.js';
import { problems } from '../../platform/http/index.js';
import { isBuiltIn, isKind, isKindOf, type Kind, KINDS } from '../../kinds/index.js';
import { readKinds, type Tenant } from '../../record/index.js';

/** How old what was read may be while nothing tells of changes (milliseconds): a change is known within two seconds. */
const EVERY_MS = 1000;
/** A path with an unknown kind reads them again at most this often (milliseconds). */
const AGAIN_MS = 200;

/** A kind of records of an application. */
export interface KindAsked extends Tenant {
  kind: Kind;
}

/**
 * Keeps the kinds of this process as the database has them (contract §8). The control stream tells of changes while requests use
 * what it knows; the leader hears of them by its own stream. An instance at rest reads nothing.
 */
@Injectable()
export class KnownKinds implements Follower, OnModuleDestroy {
  readonly collection = KINDS;
  readonly reported = [];
  private readonly log = new Logger('Kinds');
  private readonly shared = new SharedReads<void>();
  private readonly stop = new AbortController();
  private readAt = -Infinity;
  private isHeard = false;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    preparation: Preparation,
    control: ControlStream,
    @Inject(SETTINGS) settings: Settings,
  ) {
    preparation.require(() => this.refresh());
    control.follow(this);
    if (settings.knowledgeMs === 0) void preparation.done.then(() => this.keep()).catch(() => undefined);
  }

  /** A document has changed. */
  hear(): void {
    this.refreshSoon();
  }

  /** What was read may be outdated: the stream has ended, or begins. */
  forget(): void {
    this.isHeard = false;
  }

  begun(): void {
    this.isHeard = true;
    this.refreshSoon();
  }

  onModuleDestroy(): void {
    this.stop.abort();
  }

  /** Throws 404 `unknown-kind` for a kind that does not exist, or that another application has for itself. */
  async assertKnown({ kind, organizationid, appid }: KindAsked): Promise<void> {
    const age = performance.now() - this.readAt;
    const isDoubtful = isKind(kind) ? !isBuiltIn(kind) && !this.isHeard && age > EVERY_MS : age > AGAIN_MS;
    if (isDoubtful) await this.refresh();
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

  private refreshSoon(): void {
    void this.refresh().catch((error: unknown) => this.log.debug({ err: error }, 'The kinds cannot be read'));
  }

  /** Without the knowledge of the control stream. */
  private async keep(): Promise<void> {
    while (!this.stop.signal.aborted) {
      await pause(EVERY_MS, this.stop.signal);
      if (!this.stop.signal.aborted) await this.refresh().catch(() => undefined);
    }
  }
}
