import { mongo } from 'mongoose';

/** The bytes of a document whose fields stand in this order, the same name as often as it is given. */
export function rawDocument(fields: [name: string, value: unknown][]): Buffer {
  const elements = fields.map(([name, value]) =>
    value instanceof Uint8Array
      ? Buffer.concat([Buffer.of(3), Buffer.from(`${name}\0`), value])
      : Buffer.from(mongo.BSON.serialize({ [name]: value })).subarray(4, -1),
  );
  const bytes = Buffer.concat([Buffer.alloc(4), ...elements, Buffer.of(0)]);
  bytes.writeInt32LE(bytes.length);
  return bytes;
}
