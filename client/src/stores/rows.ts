import type { ToldUpsert } from '../harvest/index.js';

/** The table, or collection, of the states of all copies beside it. */
export const STATES = 'tidemark_copies';

const TABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Throws where a name is none that every database takes. */
export function assertTableName(name: string): void {
  if (TABLE_NAME.test(name) && name !== STATES) return;
  throw new RangeError(
    `"${name}" is no name for a table: take up to 63 letters, digits and _, no digit first, such as products.`,
  );
}

export function quoted(name: string): string {
  return `"${name}"`;
}

/** The values of an item's columns, from `id` to `channels`. The column of `createdBy` is never null. */
export function textsOf(upsert: ToldUpsert): (string | null)[] {
  const { id, lastupdated, type, createDate, createdBy, data, channels } = upsert;
  const channelsText = channels === undefined ? null : JSON.stringify(channels);
  return [id, lastupdated, type, createDate, createdBy ?? '', JSON.stringify(data), channelsText];
}

/** A trigger, rule or policy of the user's own drops what is written without an error, so the store looks at what it holds. */
export function assertTaken(isTaken: boolean): void {
  if (!isTaken) throw new RangeError('The table ignores it without an error, as by a trigger.');
}
