/** @depends-on-server */
import { mongo } from 'mongoose';
import { eventually, Gate, type TestApplication, TestService } from '../support/index.js';

/** The field of a command as BSON has it, before its value. */
const LONGEST_WAIT = 'maxTimeMS\0';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  await service.watcher.caughtUp();
});
afterAll(() => service.stop());

/** The stages of the watcher's stream, as the server has them. */
async function stages(): Promise<mongo.Document[]> {
  let found: mongo.Document[] | undefined;
  await eventually(async () => (found = await stagesNow()) !== undefined);
  return found!;
}

/** Undefined between two commands of the stream, while it has no cursor. */
async function stagesNow(): Promise<mongo.Document[] | undefined> {
  const running = service.client
    .db('admin')
    .aggregate<{ cursor?: { originatingCommand: mongo.Document }; command?: mongo.Document }>([
      { $currentOp: { allUsers: true, idleCursors: true, localOps: true } },
      { $match: { ns: { $regex: `^${service.db.databaseName}\\.` } } },
    ]);
  const commands = (await running.toArray()).map(
    ({ cursor, command }) => cursor?.originatingCommand ?? command,
  );
  const ours = commands.find((command) => String(command?.['comment']).startsWith('tidemark watcher'));
  return ours?.['pipeline'] as mongo.Document[] | undefined;
}

it('of the log, the server looks at names and kinds only: entries of other databases cost as little as in any stream', async () => {
  const aggregate = { aggregate: 1, pipeline: await stages(), cursor: {} };
  const explained = await service.db.command({ explain: aggregate, verbosity: 'queryPlanner' });
  const filter = JSON.stringify((explained['stages'] as mongo.Document[])[0]);
  expect(filter).toContain('oplog.rs');
  for (const word of ['bsonSize', 'alive', 'expires', 'lastupdated']) expect(filter).not.toContain(word);
});

it('a stream that was opened just now tells what the log has, and does not wait for more: a start does', async () => {
  const gate = await Gate.to(service.uri);
  await gate.open();
  const waits: number[] = [];
  gate.hold((request) => {
    const isOfStream = request.includes('getMore') && request.includes('$cmd.aggregate');
    if (isOfStream) waits.push(request.readInt32LE(request.indexOf(LONGEST_WAIT) + LONGEST_WAIT.length));
    return false;
  });
  await service.leave();
  const next = await service.another({ MONGODB_URI: gate.uri });
  await eventually(() => waits.length > 1);
  expect(waits.slice(0, 2)).toEqual([1, 50]);
  await next.leave();
  await gate.shut();
  service = await service.another();
  app = app.seenBy(service);
});

it('what is noted about re-stamps reaches no watcher, which would feed itself', async () => {
  const { operationTime: startAtOperationTime } = await service.db.command({ hello: 1 });
  const notes = service.db.collection('tidemark.restamps');
  const { insertedId: _id } = await notes.insertOne({ ids: [new mongo.ObjectId()], expires: new Date() });
  await notes.updateOne({ _id }, { $set: { seen: true } });
  await notes.deleteOne({ _id });
  await app.product();
  const [, ...behind] = await stages();
  const seen: unknown[] = [];
  for await (const { ns } of service.db.aggregate([{ $changeStream: { startAtOperationTime } }, ...behind])) {
    seen.push((ns as { coll: string }).coll);
    if (seen.at(-1) === 'products') break;
  }
  expect(seen).not.toContain('tidemark.restamps');
});

describe('an `_id` of megabytes, whose event MongoDB could not send', () => {
  const since = async () =>
    (await service.db.collection('tidemark.leases').findOne())?.['since'] as mongo.Timestamp;
  const products = () => service.db.collection<{ _id: string }>('products');

  it.each([2, 6])(
    'a text of %i MB, written, changed and deleted: others are served, without a repair',
    async (size) => {
      const before = await since();
      const _id = 'x'.repeat(size << 20);
      await products().insertOne({ _id, ...app.tenant });
      await products().updateOne({ _id }, { $set: { more: 1 } });
      await products().deleteOne({ _id });
      const { id } = await app.product();
      await service.watcher.caughtUp();
      expect((await app.feed('product').page()).ids).toContain(id);
      expect(await since()).toEqual(before);
    },
  );
});
