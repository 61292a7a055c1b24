import mongoose from 'mongoose';
import { etagOf } from '../http/index.js';
import { READ_FOR_JSON, updateItemText } from '../record/index.js';
import { decode, timesAlong, withoutDoubles } from './bson-document.js';
import type { BsonDocument } from './document.js';

/** The driver's option for text that is not UTF-8 has another name where no driver is between. */
const READ_HERE = { ...READ_FOR_JSON, validation: { utf8: false } };

/** A member as the database holds it, without the service's own `emailkey`. */
export class StoredMember {
  private decoded: BsonDocument | undefined;

  constructor(readonly raw: Uint8Array) {}

  /** Changes with every write to the record, by whomever. */
  get etag(): string {
    return etagOf(this.raw);
  }

  /** Not to be changed: it is the same each time. */
  record(): BsonDocument {
    return (this.decoded ??= decode(this.raw));
  }

  /** How often each name along a path is stored. */
  timesAlong(path: string[]): number[] {
    return timesAlong(this.raw, path);
  }

  /** The JSON text that answers show. */
  itemText(): string {
    const record = mongoose.mongo.BSON.deserialize(withoutDoubles(this.raw), READ_HERE);
    return updateItemText('member', record, { withPasswordHash: false });
  }
}
