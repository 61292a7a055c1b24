import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { SharedReads } from '../common/index.js';
import { readStanding, type Standing } from '../replication/mark/index.js';

/** What health checks and scrapes ask the database. They need no credentials, so all who come together share a look. */
@Injectable()
export class Looks {
  private readonly pings = new SharedReads<unknown>();
  private readonly standings = new SharedReads<Standing>();

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Throws where the database does not answer. */
  ping(): Promise<unknown> {
    return this.pings.of('ping', () => this.connection.db!.command({ ping: 1 }));
  }

  standing(): Promise<Standing> {
    return this.standings.of('standing', () => readStanding(this.connection));
  }
}
