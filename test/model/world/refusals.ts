import type { mongo } from 'mongoose';

/** The database refuses a ledger entry. */
export class RefusedEntry extends Error {}

/** The database refuses a record its stamp. */
export class RefusedStamp extends Error {
  constructor(
    readonly owner: mongo.ObjectId,
    readonly above: Date | undefined,
  ) {
    super();
  }
}
