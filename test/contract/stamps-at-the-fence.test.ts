import type { mongo } from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import { KINDS_AND_WARES, storedField, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.withWares();
});
afterAll(() => service.stop());

describe.each(KINDS_AND_WARES)(
  'after its moment no change may end with a stamp at or below the fence (%s)',
  (kind: Kind) => {
    let app: TestApplication;
    let fence: Date;

    beforeEach(async () => {
      app = await service.application();
      await app.put(kind);
      await service.watcher.caughtUp();
      await app.max(kind);
      const mark = await service.db
        .collection<{ _id: mongo.Document; fence: Date }>('tidemark.marks')
        .findOne({ '_id.appid': app.appid, '_id.kind': kind });
      fence = mark!.fence;
    });

    /** The stamp of a record that another program writes now, so many milliseconds from the fence. */
    async function stampBehind(id: string, ms: number): Promise<number> {
      const { _id } = await app.put(kind, { id, lastupdated: new Date(fence.getTime() + ms) });
      await service.watcher.caughtUp();
      const record = await service.records(kind).findOne({ _id });
      return (record![storedField(kind, 'lastupdated')] as Date).getTime() - fence.getTime();
    }

    it.each([-1, 0])('%i ms from it: stamped above it, so the next harvest brings it', async (ms) => {
      expect(await stampBehind('a', ms)).toBeGreaterThan(0);
      const items = await app.feed(kind).drain({ from: fence, to: await app.max(kind) });
      expect(items.map(({ id }) => id)).toEqual(['a']);
    });

    it('1 ms above it: left as it is', async () => {
      expect(await stampBehind('a', 1)).toBe(1);
    });
  },
);
