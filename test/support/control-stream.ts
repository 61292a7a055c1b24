import type { mongo } from 'mongoose';
import type { TestService } from '../support/index.js';

/** A control stream as the server has it. */
export interface OpenStream {
  cursorId: mongo.Long;
  originatingCommand: mongo.Document;
}

/** The open control streams over the database of a service. */
export async function controlStreams({ client, db }: TestService): Promise<OpenStream[]> {
  const stages = [
    { $currentOp: { idleCursors: true } },
    { $match: { ns: `${db.databaseName}.$cmd.aggregate` } },
    { $match: { 'cursor.originatingCommand.comment': 'tidemark control' } },
  ];
  const options = { promoteLongs: false };
  const found = await client.db('admin').aggregate<{ cursor: OpenStream }>(stages, options).toArray();
  return found.map(({ cursor }) => cursor);
}
