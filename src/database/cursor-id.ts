import mongoose, { type mongo } from 'mongoose';

/** The id of a cursor as the server wants it back, 64 bits long: the driver makes a small one a number, and sends it as a double. */
export function cursorId(id: mongo.Long | number | bigint): mongo.Long | bigint {
  return typeof id === 'number' ? mongoose.mongo.Long.fromNumber(id) : id;
}
