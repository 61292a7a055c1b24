import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { CREDENTIAL_USE_MODEL, type CredentialUse } from './credential.schema.js';

const EVERY_MS = 60_000;
/** Most credentials whose uses are noted between two writes; uses of further ones are noted after the write. */
const MOST_CREDENTIALS = 10_000;
/** Stands for the beginning: no credential has it as its user name. */
const SINCE = '';

/** When each credential was last let in, noted by requests and written once a minute: none waits for it. */
@Injectable()
export class CredentialUses implements OnModuleInit, OnModuleDestroy {
  private readonly log = new Logger('CredentialUses');
  private uses = new Map<string, Omit<CredentialUse, '_id'>>();
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(@InjectModel(CREDENTIAL_USE_MODEL) private readonly model: Model<CredentialUse>) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  /** The first use since the last write stands for those that follow: they are of the same minute. */
  note(username: string, addressOf: () => string): void {
    if (this.uses.has(username) || this.uses.size >= MOST_CREDENTIALS) return;
    this.uses.set(username, { at: new Date(), from: addressOf() });
  }

  /** Writes what was noted. Where the database does not take it, it is lost: a next use tells the same. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    const uses = [...this.uses];
    if (uses.length === 0) return;
    this.uses = new Map();
    const begun = { filter: { _id: SINCE }, update: { $setOnInsert: { at: new Date() } }, upsert: true };
    const updates = uses.map(([username, use]) => ({
      updateOne: { filter: { _id: username }, update: { $set: use }, upsert: true },
    }));
    const collection = this.model.collection as unknown as mongo.Collection<CredentialUse>;
    await collection
      .bulkWrite([{ updateOne: begun }, ...updates], { ordered: false })
      .catch((error: unknown) =>
        this.log.warn({ err: error }, 'The uses of credentials could not be written.'),
      );
  }
}
