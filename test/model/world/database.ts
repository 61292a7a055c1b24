import type { mongo } from 'mongoose';
import type { WatchedEvent } from '../../../src/replication/protocol/events.js';
import type { LogPlace } from '../../../src/replication/protocol/place.js';
import { EMPTY, type ModelState } from './documents.js';
import { NEVER, ORIGIN, timestamp } from './time.js';
import { Transaction } from './transaction.js';

/** Some events of the log. */
export interface LogBatch {
  events: WatchedEvent[];
  /** Where to go on. */
  token: number;
  /** Whether nothing stood behind them in the log. */
  isDrained: boolean;
}

/** One primary: a wall clock that steps, a cluster time that does not, a log, and every state there ever was. */
export class Database {
  /** Milliseconds; the server's own clock. */
  wall = ORIGIN;
  /** As it is now. */
  now: ModelState = EMPTY;
  /** What writes of the service are refused for now: stamps of records by `key`, ledger entries by identity. */
  readonly refused = new Set<string>();
  /** Told of every write, where somebody listens. */
  onWrite?: (what: string, at: mongo.Timestamp, events: WatchedEvent[]) => void;
  private seconds = 0;
  private counter = 0;
  private newestTime = NEVER;
  private readonly past: { at: mongo.Timestamp; state: ModelState }[] = [];
  private readonly log: WatchedEvent[] = [];
  private lost = 0;

  /** The clock of design §3. */
  clock(): Date {
    return new Date(Math.max(this.wall, this.seconds * 1000));
  }

  /** The cluster time of the last write. */
  get newest(): mongo.Timestamp {
    return this.newestTime;
  }

  /** The number of events ever, which is the token of a stream that begins now. */
  get end(): number {
    return this.log.length;
  }

  /** One atomic write; answers its cluster time, or nothing where it changed nothing. */
  write(what: string, change: (transaction: Transaction) => void): mongo.Timestamp | undefined {
    const seconds = Math.max(this.seconds, Math.floor(this.wall / 1000));
    const counter = seconds > this.seconds ? 1 : this.counter + 1;
    const transaction = new Transaction(this.now, timestamp(seconds, counter), this.refused);
    change(transaction);
    if (!transaction.isDirty) return undefined;
    this.seconds = seconds;
    this.counter = counter;
    this.newestTime = transaction.at;
    this.now = transaction.state;
    this.past.push({ at: transaction.at, state: this.now });
    this.log.push(...transaction.events);
    this.onWrite?.(what, transaction.at, transaction.events);
    return transaction.at;
  }

  /** Everything as it was at a cluster time. */
  asOf(at: mongo.Timestamp): ModelState {
    for (let index = this.past.length - 1; index >= 0; index--) {
      const version = this.past[index]!;
      if (version.at.compare(at) <= 0) return version.state;
    }
    return EMPTY;
  }

  /** The cluster times of all writes after one. */
  timesAfter(at: mongo.Timestamp): mongo.Timestamp[] {
    const first = this.past.findIndex((version) => version.at.compare(at) > 0);
    return first === -1 ? [] : this.past.slice(first).map((version) => version.at);
  }

  /** The events after a token; nothing where the log does not reach back so far. */
  read(token: number, limit: number): LogBatch | undefined {
    if (token < this.lost) return undefined;
    const events = this.log.slice(token, token + limit);
    const next = token + events.length;
    return { events, token: next, isDrained: next === this.log.length };
  }

  /** Where the last event before a token stands. */
  placeBefore(token: number): LogPlace | undefined {
    return this.log[token - 1]?.place;
  }

  /** The log rolls over: what was not read by now is never read. */
  loseHistory(upTo = this.log.length): void {
    this.lost = Math.max(this.lost, upTo);
  }
}
