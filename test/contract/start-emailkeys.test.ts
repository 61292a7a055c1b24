import { TestService } from '../support/index.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };

it('members that got the same emailkey while its index was away: the first keeps it, the start goes on', async () => {
  const service = await TestService.start({}, (db) =>
    db.collection('members').insertMany(
      ['a', 'b', 'c'].map((id) => ({
        ...TENANT,
        id,
        lastupdated: new Date(),
        data: { email: 'ada@example.org' },
        emailkey: 'ada@example.org',
      })),
    ),
  );
  const members = await service.db
    .collection('members')
    .find({}, { sort: { id: 1 } })
    .toArray();
  expect(members.map(({ emailkey }) => emailkey as unknown)).toEqual([
    'ada@example.org',
    undefined,
    undefined,
  ]);
  expect(await service.db.collection('emailduplicates').countDocuments(TENANT)).toBe(2);
  await service.stop();
});
