import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';

/** Looks whether the collections of the records have changed themselves: their validators, or others in their place. */
@Injectable()
export class CollectionOptions {
  private readonly seen = new Map<Kind, string>();

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** The kinds whose collection is another than at the last look. */
  async changed(): Promise<Kind[]> {
    const names = KINDS.map((kind) => COLLECTION_OF[kind]);
    const which = { name: { $in: names } };
    const found = await this.connection.db!.listCollections(which, { nameOnly: false }).toArray();
    const now = new Map(found.map(({ name, ...rest }) => [name, JSON.stringify(rest)]));
    return KINDS.filter((kind) => {
      const before = this.seen.get(kind);
      const present = now.get(COLLECTION_OF[kind]) ?? '';
      this.seen.set(kind, present);
      return before !== undefined && before !== present;
    });
  }
}
