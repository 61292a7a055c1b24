import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { APP_NAME } from '../../database/index.js';

/** A transaction without an active client. */
interface Idle {
  lsid: { id: mongo.Binary };
}

/**
 * Ends the transactions that leaders before this one have left open. One that was killed within rule 4 would hold its
 * record and its ledger entry, and the watcher with them, until MongoDB itself ends it after a minute. A leader that was
 * only overtaken begins its transaction again.
 */
@Injectable()
export class Orphans {
  private readonly log = new Logger('Watcher');

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Never throws: where the database does not allow it, its own minute has to do. */
  async end(): Promise<void> {
    try {
      const sessions = (await this.idle()).map(({ lsid: { id } }) => ({ id }));
      if (sessions.length > 0) await this.admin.command({ killSessions: sessions });
    } catch (error) {
      this.log.debug({ err: error as Error }, 'Transactions left open cannot be looked for');
    }
  }

  private idle(): Promise<Idle[]> {
    const left = { type: 'idleSession', appName: APP_NAME, transaction: { $exists: true } };
    return this.admin
      .aggregate<Idle>([{ $currentOp: { idleSessions: true } }, { $match: left }], {
        readConcern: { level: 'local' },
      })
      .toArray();
  }

  private get admin(): mongo.Db {
    return this.connection.getClient().db('admin');
  }
}
