import { expectProblem, TestService } from '../support/index.js';
import { MemberClient, newEmail } from './member-client.js';

let service: TestService;
let members: MemberClient;
beforeAll(async () => {
  service = await TestService.start();
  members = new MemberClient(await service.application());
  await members.collection.createIndex({ organizationid: 1, 'data.accountnumber': 1 }, { unique: true });
});
afterAll(() => service.stop());

const FIELDS = 'organizationid, data.accountnumber';

describe('a member that a unique index of another program refuses is a 409 that names its fields', () => {
  it('POST: nothing is stored', async () => {
    await members.born({ accountnumber: 'taken-1' });
    const before = await members.count();
    const answer = await members.create({ accountnumber: 'taken-1', email: newEmail() });
    expectProblem(answer, 409, 'refused-by-index');
    expect(answer.json).toMatchObject({ detail: expect.stringContaining(`a unique index over ${FIELDS},`) });
    expect(answer.text).not.toContain('taken-1');
    expect(await members.count()).toBe(before);
  });

  it('PATCH: nothing is changed', async () => {
    await members.born({ accountnumber: 'taken-2' });
    const id = await members.born({ accountnumber: 'own' });
    const before = await members.stored(id);
    expectProblem(await members.patch(id, { accountnumber: 'taken-2' }), 409, 'refused-by-index');
    expect(await members.stored(id)).toEqual(before);
  });

  it('POST: an index over the key of the e-mail and another field does not mean that the e-mail is taken', async () => {
    const index = await members.collection.createIndex({ emailkey: 1, 'data.elevel': 1 }, { unique: true });
    const email = newEmail();
    const elsewhere = new MemberClient(await service.application());
    try {
      await elsewhere.born({ email, elevel: 7 });
      const answer = await members.create({ accountnumber: 'own-2', email, elevel: 7 });
      expectProblem(answer, 409, 'refused-by-index');
      expect(answer.json).toMatchObject({ detail: expect.stringContaining('over emailkey, data.elevel,') });
    } finally {
      await members.collection.dropIndex(index);
    }
  });
});
