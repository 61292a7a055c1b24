import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { SharedReads } from '../common/index.js';
import { modelsOf, NO_HISTORY, unfitness } from '../database/index.js';
import { countPending, type PendingCounts } from '../replication/filters/index.js';
import { holdsWatched, readWatcherStatus, type WatcherStatus } from '../replication/progress/index.js';
import { countSetAside } from '../replication/quarantine/index.js';
import { countEmailDuplicates } from '../replication/repair/index.js';

/** What health checks and scrapes ask the database. They need no credentials, so all who come together share a look. */
@Injectable()
export class Looks {
  private readonly pings = new SharedReads<unknown>();
  private readonly flaws = new SharedReads<string | undefined>();
  private readonly standings = new SharedReads<WatcherStatus>();
  private readonly counts = new SharedReads<[number, number]>();
  private readonly pending = new SharedReads<PendingCounts>();

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Throws where the database does not answer. */
  ping(): Promise<unknown> {
    return this.pings.share('ping', () => this.connection.db!.command({ ping: 1 }));
  }

  /** Why the service cannot keep its promises on this database by now, and what an operator has to do. */
  flaw(): Promise<string | undefined> {
    return this.flaws.share('flaw', async () => {
      const sentence = await unfitness(this.connection.db!, modelsOf(this.connection));
      if (sentence !== undefined) return sentence;
      return (await holdsWatched(this.connection)) ? undefined : NO_HISTORY;
    });
  }

  watcherStatus(): Promise<WatcherStatus> {
    return this.standings.share('standing', () => readWatcherStatus(this.connection));
  }

  /** Services whose edited filter is not in force yet. */
  pendingServices(): Promise<PendingCounts> {
    return this.pending.share('pending', () => countPending(this.connection));
  }

  /** Members whose e-mail another member has, and events that were set aside. */
  openRepairs(): Promise<[emailDuplicates: number, quarantined: number]> {
    return this.counts.share('counts', () =>
      Promise.all([countEmailDuplicates(this.connection), countSetAside(this.connection)]),
    );
  }
}
