import { createParamDecorator, type ExecutionContext, Inject, Injectable, Module } from '@nestjs/common';
import { InjectConnection, MongooseModule } from '@nestjs/mongoose';
import type { Request } from 'express';
import type { Connection } from 'mongoose';
import { callerOf } from '../auth/index.js';
import { SETTINGS, type Settings } from '../platform/config/index.js';
import { refusalsIn, WriteBehind } from '../platform/database/index.js';
import {
  trailEntry,
  writeTrail,
  type Actor,
  type AuditedAction,
  type TrailEntry,
  trailModels,
} from './audit-trail.js';

const EVERY_MS = 1000;
/**
 * Maximum number of entries that may wait while the database is unavailable. Further entries are dropped, and the log
 * reports how many were lost.
 */
const MOST_WAITING = 10_000;

/**
 * Collects entries about member writes and writes them once a second, so that a write does not wait for its entry.
 * Waiting entries are written before the service stops; a process that is killed loses those of its last second.
 */
@Injectable()
export class TrailNotes extends WriteBehind {
  private readonly days: number;
  private waiting: TrailEntry[] = [];
  private lost = 0;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) { auditTrailDays }: Settings,
  ) {
    super('AuditTrail', EVERY_MS, 'The audit trail cannot be written; the write is retried every second.');
    this.days = auditTrailDays;
  }

  /** Queues an entry, to be written within a second. */
  note(actor: Actor, audited: AuditedAction): void {
    if (this.waiting.length < MOST_WAITING) this.waiting.push(trailEntry(actor, audited, this.days));
    else this.lost += 1;
  }

  /** Entries that cannot be written are retried a second later. They keep their room meanwhile. */
  protected override async write(): Promise<void> {
    const entries = [...this.waiting];
    if (entries.length === 0) return;
    const failure = await writeTrail(this.connection.db!, entries).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const unwritten = failure === undefined ? [] : unwrittenAmong(entries, failure.error);
    this.waiting.splice(0, entries.length, ...unwritten);
    if (unwritten.length < entries.length) {
      this.reportLost(this.lost);
      this.lost = 0;
    }
    if (unwritten.length > 0) throw failure?.error;
  }

  /** Reports the entries that are lost with this process, too. */
  override async onApplicationShutdown(): Promise<void> {
    await super.onApplicationShutdown();
    this.reportLost(this.lost + this.waiting.length);
  }

  private reportLost(count: number): void {
    if (count > 0) this.log.error(`${count} entries of the audit trail are lost: they could not be written.`);
  }
}

/** The entries that are still not stored: an insert refuses as duplicates those that an earlier attempt stored. */
function unwrittenAmong(entries: TrailEntry[], error: unknown): TrailEntry[] {
  try {
    return refusalsIn(error)
      .filter(({ isDuplicate }) => !isDuplicate)
      .map(({ index }) => entries[index]!);
  } catch {
    return entries;
  }
}

/** The author of a request. */
export function actorOf(request: Request): Actor {
  const { username: who } = callerOf(request);
  return { who, via: 'http', from: request.ip ?? '', requestId: String(request.id) };
}

/** The author of the request, in a handler after the guard. */
export const Acting = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  actorOf(context.switchToHttp().getRequest<Request>()),
);

@Module({
  imports: [MongooseModule.forFeature(trailModels)],
  providers: [TrailNotes],
  exports: [MongooseModule, TrailNotes],
})
export class TrailModule {}
