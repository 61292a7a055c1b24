import { deserialize, serialize } from 'bson';
import { mongo } from 'mongoose';
import { cursorId } from '../../../../src/platform/database/commands.js';

it.each([[5], [2 ** 40], [5n], [mongo.Long.fromString('5676142609319746440')]])(
  'the id %s of a cursor is sent as a number of 64 bits',
  (id) => {
    const sent = deserialize(serialize({ id: cursorId(id) }), { useBigInt64: true });
    expect(sent['id']).toBe(BigInt(id.toString()));
  },
);
