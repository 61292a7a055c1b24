import { type Heads, markName } from '../../src/replication/protocol/index.js';
import { HeadWriter } from '../../src/replication/store/index.js';
import { TestService, withoutWatcher } from '../support/index.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

it('what a term that is over has written late does not keep the next one from writing a head that is gone', async () => {
  const mark = { organizationid: 'acme', appid: 'shop', kind: 'product' as const };
  const heads: Heads = new Map([[markName(mark), { mark, stamp: new Date('2026-01-01T00:00:00.000Z') }]]);
  const stored = service.db.collection('tidemark.heads');
  await withoutWatcher(service, async () => {
    const writer = service.app.get(HeadWriter, { strict: false });
    const late = writer.write(heads, new Map());
    writer.beginTerm();
    await late;
    await stored.deleteMany({});
    await writer.write(heads, new Map());
    expect(await stored.find().toArray()).toMatchObject([{ stamp: heads.get(markName(mark))!.stamp }]);
  });
});
