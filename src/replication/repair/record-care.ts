import { Injectable } from '@nestjs/common';
import type { mongo } from 'mongoose';
import type { Kind } from '../../record/index.js';
import { KnownChannels } from '../ledger/index.js';
import { carriedChannels } from './carried-channels.js';
import { IgnoredRecords } from './ignored-records.js';
import type { RecordLook } from './present-record.js';
import { RecordRepair } from './record-repair.js';
import { TooLarge } from './too-large.js';
import { UnreadableIds } from './unreadable-ids.js';

/** Looks after records as they stand, whatever event or walk came upon them. */
@Injectable()
export class RecordCare {
  constructor(
    private readonly ignored: IgnoredRecords,
    private readonly tooLarge: TooLarge,
    private readonly unreadableIds: UnreadableIds,
    private readonly repair: RecordRepair,
    private readonly channels: KnownChannels,
  ) {}

  /** Answers the members whose e-mail another one has already. */
  async lookAfter(kind: Kind, look: RecordLook): Promise<mongo.ObjectId[]> {
    this.ignored.see(kind, look.records);
    this.tooLarge.see(kind, look.records);
    await this.unreadableIds.remove(kind, look.records);
    const duplicates = await this.repair.repair(kind, look);
    if (kind === 'product') await this.channels.learn(carriedChannels(look.records));
    return duplicates;
  }
}
