import type { mongo } from 'mongoose';
import { eventually } from './eventually.js';
import type { Gate } from './gate.js';

/** A control stream as the server has it. */
export interface OpenStream {
  cursorId: mongo.Long;
  originatingCommand: mongo.Document;
}

/** The open control streams over a database. */
export async function controlStreams(db: mongo.Db): Promise<OpenStream[]> {
  const stages = [
    { $currentOp: { allUsers: true, idleCursors: true } },
    { $match: { ns: `${db.databaseName}.$cmd.aggregate` } },
    { $match: { 'cursor.originatingCommand.comment': 'tidemark control' } },
  ];
  const options = { promoteLongs: false };
  const found = await db.client.db('admin').aggregate<{ cursor: OpenStream }>(stages, options).toArray();
  return found.map(({ cursor }) => cursor);
}

/**
 * From now on nothing that a control stream behind the gate asks comes through, also where it begins anew; everything else
 * does. The database is looked at by another way than the gate.
 */
export async function holdControlStream(gate: Gate, db: mongo.Db): Promise<void> {
  let cursors: Buffer[] = [];
  const isHeld = (request: Buffer) =>
    request.includes('tidemark control') || cursors.some((id) => request.includes(id));
  gate.hold(isHeld);
  await eventually(async () => {
    cursors = (await controlStreams(db)).map(({ cursorId }) => Buffer.from(cursorId.toBytesLE()));
    return gate.holding > 0;
  });
}
