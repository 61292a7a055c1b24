import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { type Call, type StoredConsumer, consumerName, type Calls, gather, updateOf } from './gathered.js';
import { CONSUMERS } from './consumer.schema.js';

const EVERY_MS = 10_000;
/** Consumers that are recorded between two writes. Further ones are ignored until the next write. */
const MOST_CONSUMERS = 10_000;

/**
 * Records the activity of consumers. A request is noted when it ends. The notes are written every ten seconds, so that no
 * request waits for the write.
 */
@Injectable()
export class ConsumerNotes implements OnModuleInit, OnModuleDestroy {
  private readonly log = new Logger('Consumers');
  private calls: Calls = new Map();
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(@InjectConnection() private readonly connection: Connection) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  note(call: Call): void {
    if (this.calls.size < MOST_CONSUMERS || this.calls.has(consumerName(call.key))) gather(this.calls, call);
  }

  /** Writes the notes. If the write fails, they are lost; the next calls supply the same information. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    const gathered = [...this.calls.values()];
    if (gathered.length === 0) return;
    this.calls = new Map();
    const updates = gathered.map((one) => ({
      updateOne: { filter: { _id: { $eq: one._id } }, update: updateOf(one), upsert: true },
    }));
    await this.connection
      .db!.collection<StoredConsumer>(CONSUMERS)
      .bulkWrite(updates, { ordered: false })
      .catch((error: unknown) =>
        this.log.warn({ err: error }, 'The notes about consumers could not be written.'),
      );
  }
}
