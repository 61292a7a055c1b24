import { type CanActivate, type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { accessOf } from '../../auth/index.js';
import { ControlStream, type Follower } from '../../platform/control/index.js';
import { Preparation } from '../../platform/database/index.js';
import { problems } from '../../platform/http/index.js';
import { isKind, isKindOf, type Kind, KINDS } from '../../kinds/index.js';
import { readKinds, type Tenant } from '../../record/index.js';

/**
 * The maximum age of the kinds while no stream reports changes (milliseconds). A change is then known within two
 * seconds.
 */
const OLDEST_MS = 1000;
/** A request for an unknown kind reads the kinds again if they are older than this (milliseconds). */
const AGAIN_MS = 200;

/** A kind of records of an application. */
export interface KindAsked extends Tenant {
  kind: Kind;
}

/**
 * Keeps the kinds of this process equal to those of the database (contract §8). While there are requests, the control
 * stream reports changes; to the leader, its own stream reports them. An instance that does not lead reads nothing
 * while there are no requests.
 */
@Injectable()
export class KnownKinds implements Follower {
  readonly collection = KINDS;
  readonly reported = [];
  private readonly log = new Logger('Kinds');
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  private readAt = -Infinity;
  /** A change was reported since the last read began, or the last read failed. */
  private isOutdated = true;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    preparation: Preparation,
    private readonly control: ControlStream,
  ) {
    preparation.require(() => this.refresh());
    control.follow(this);
  }

  hear(): void {
    this.refreshSoon();
  }

  begun(): void {
    this.refreshSoon();
  }

  forget(): void {
    this.isOutdated = true;
  }

  /** Throws 404 `unknown-kind` for a kind that does not exist, or that is reserved for another application. */
  async assertKnown({ kind, organizationid, appid }: KindAsked): Promise<void> {
    if (!isKind(kind) && this.age > AGAIN_MS) await this.refresh();
    if (!isKindOf(kind, { organizationid, appid })) throw problems.unknownKind(kind);
  }

  /** Reads the kinds, unless what is known is recent enough for a request. */
  async keep(): Promise<void> {
    if ((this.isOutdated || !this.control.isCurrent) && this.age > OLDEST_MS) await this.refresh();
  }

  /**
   * Reads the kinds as they are at the call or later. Calls during a query share the next one, so that a caller waits
   * for at most one query besides its own.
   */
  refresh(): Promise<void> {
    this.isOutdated = true;
    if (this.running === undefined && this.next === undefined) return this.begin();
    this.next ??= Promise.resolve(this.running)
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.begin();
      });
    return this.next;
  }

  private get age(): number {
    return performance.now() - this.readAt;
  }

  private begin(): Promise<void> {
    this.running = this.read().finally(() => (this.running = undefined));
    return this.running;
  }

  private async read(): Promise<void> {
    this.isOutdated = false;
    this.readAt = performance.now();
    try {
      if (await readKinds(this.connection)) this.log.log('The kinds of records have changed');
    } catch (error) {
      this.isOutdated = true;
      throw error;
    }
  }

  private refreshSoon(): void {
    void this.refresh().catch((error: unknown) => this.log.debug({ err: error }, 'The kinds cannot be read'));
  }
}

/**
 * Lets an instance that had no requests read the kinds before it answers one. If the database does not answer, the
 * request is processed with the known kinds, and fails later if it needs the database.
 */
@Injectable()
export class KindsGuard implements CanActivate {
  constructor(private readonly kinds: KnownKinds) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (!accessOf(context).isPublic) await this.kinds.keep().catch(() => undefined);
    return true;
  }
}
