import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { SharedReads } from '../common/index.js';
import { readWatcherStatus, type WatcherStatus } from '../replication/progress/index.js';
import { countSetAside } from '../replication/quarantine/index.js';
import { countEmailDuplicates } from '../replication/repair/index.js';

/** What health checks and scrapes ask the database. They need no credentials, so all who come together share a look. */
@Injectable()
export class Looks {
  private readonly pings = new SharedReads<unknown>();
  private readonly standings = new SharedReads<WatcherStatus>();
  private readonly counts = new SharedReads<[number, number]>();

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Throws where the database does not answer. */
  ping(): Promise<unknown> {
    return this.pings.share('ping', () => this.connection.db!.command({ ping: 1 }));
  }

  watcherStatus(): Promise<WatcherStatus> {
    return this.standings.share('standing', () => readWatcherStatus(this.connection));
  }

  /** Members whose e-mail another member has, and events that were set aside. */
  openRepairs(): Promise<[emailDuplicates: number, quarantined: number]> {
    return this.counts.share('counts', () =>
      Promise.all([countEmailDuplicates(this.connection), countSetAside(this.connection)]),
    );
  }
}
