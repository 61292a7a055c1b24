import { ConsumerNotes } from '../../../../../src/replication/feed/index.js';

const AT = new Date('2026-01-01');

/** Notes, and the consumers that they write. */
function notes() {
  const written: { username: string; service: string }[] = [];
  const bulkWrite = (
    updates: { updateOne: { filter: { _id: { $eq: { username: string; service: string } } } } }[],
  ) => Promise.resolve(written.push(...updates.map(({ updateOne }) => updateOne.filter._id.$eq)));
  const connection = { db: { collection: () => ({ bulkWrite }) } };
  const made = new ConsumerNotes(...([connection] as unknown as ConstructorParameters<typeof ConsumerNotes>));
  const note = (username: string, service: string) =>
    made.note({
      ...{ key: { organizationid: 'acme', appid: 'shop', username, kind: 'product', service } },
      ...{ feed: 'updates', at: AT, status: 400, isFirst: true, isFull: false, isWhole: true, items: 0 },
    });
  return { made, note, written };
}

it('the names that one user makes up cost the notes of no other', async () => {
  const { made, note, written } = notes();
  for (let n = 0; n < 20_000; n += 1) note('greedy', `made-up-${n}`);
  note('other', 'erp');
  await made.flush();
  expect(written.filter(({ username }) => username === 'greedy')).toHaveLength(2000);
  expect(written.filter(({ username }) => username === 'other')).toHaveLength(1);
});

it('a name that is longer than any service or channel is not kept', async () => {
  const { made, note, written } = notes();
  note('greedy', 'x'.repeat(15_000));
  note('greedy', `channel:${'x'.repeat(1024)}`);
  await made.flush();
  expect(written.map(({ service }) => service.length)).toEqual([1032]);
});
