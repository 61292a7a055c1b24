import { mongo } from 'mongoose';

/** The largest document that MongoDB stores. */
const LARGEST = 16 * 1024 * 1024;

/** The record with so much text in its data that ten bytes are left: it has no room for a stamp that it lacks. */
export function filledUp<T extends mongo.Document>(record: T): T & { data: { text: string } } {
  const empty = { ...record, data: { ...record['data'], text: '' } };
  const room = LARGEST - 10 - mongo.BSON.calculateObjectSize(empty);
  return { ...empty, data: { ...empty.data, text: 'x'.repeat(room) } };
}
