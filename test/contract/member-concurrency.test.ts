import { type Answer, TestService } from '../support/index.js';
import { type HeldWrite, whileHeld } from './held-record.js';
import { itemOf, MemberClient, newEmail, slugOf } from './member-client.js';

let service: TestService;
let members: MemberClient;

beforeAll(async () => {
  service = await TestService.shared();
  members = new MemberClient(await service.application());
});

describe('two concurrent patches never lose one another’s properties', () => {
  const RUNNERS = 24;

  it.each<[string, (id: string, index: number) => Promise<Answer>]>([
    ['sections', (id, index) => members.patch(id, { extrafields: { [`s${index}`]: { p: true } } })],
    [
      'properties of one section',
      (id, index) => members.patch(id, { extrafields: { all: { [`s${index}`]: 'x' } } }),
    ],
  ])('24 parallel patches of one member lose nothing: %s', async (_what, patch) => {
    const id = await members.born({ extrafields: { all: {} } });
    const kept = async () => {
      const { extrafields } = (await members.stored(id))!['data'] as { extrafields: Record<string, object> };
      return new Set([...Object.keys(extrafields), ...Object.keys(extrafields['all'] ?? {})]);
    };
    let waiting = Array.from({ length: RUNNERS }, (_, index) => index);
    while (waiting.length > 0) {
      const answers = await Promise.all(waiting.map((index) => patch(id, index)));
      const names = await kept();
      const refused = waiting.filter((index, at) => {
        const answer = answers[at] as Answer;
        if (answer.status === 200) expect(names).toContain(`s${index}`);
        else expect([answer.status, slugOf(answer)]).toEqual([409, 'member-modified']);
        return answer.status !== 200;
      });
      waiting = refused;
    }
    expect((await kept()).size).toBe(RUNNERS + 1);
  });

  it('a patch and an address patch', async () => {
    const id = await members.born();
    for (let round = 0; round < 10; round++) {
      const [patched, moved] = await Promise.all([
        members.patch(id, { contactname: `name ${round}` }),
        members.patchAddress(id, { city: `city ${round}` }),
      ]);
      expect([200, 409]).toContain(patched.status);
      expect([200, 409]).toContain(moved.status);
      const data = (await members.stored(id))!['data'];
      if (patched.status === 200) expect(data.contactname).toBe(`name ${round}`);
      if (moved.status === 200) expect(data.address.city).toBe(`city ${round}`);
    }
  });
});

describe('somebody else changed the member between this request’s read and its write', () => {
  /** Another program writes the member between the request's read and its write. What the request answers. */
  async function meanwhile(write: HeldWrite, ask: () => Promise<Answer>): Promise<Answer> {
    const answer = await whileHeld(service.client, members.collection, write, ask);
    await service.watcher.caughtUp();
    return answer;
  }

  const set =
    (id: string, fields: object): HeldWrite =>
    (collection, options) =>
      collection.updateOne({ ...members.app.tenant, id }, { $set: fields }, options);

  it.each<[string, object]>([
    ['another property', { 'data.erp': 'x' }],
    ['the same property', { 'data.contactname': 'Bea' }],
    ['lastupdated alone', { lastupdated: new Date() }],
    ['a field beside data', { remark: 'x' }],
    ['the order of channels', { channels: ['b', 'a'] }],
  ])('409 member-modified: %s', async (_what, fields) => {
    const id = await members.born({ channels: ['a', 'b'] });
    const answer = await meanwhile(set(id, fields), () => members.patch(id, { contactname: 'Ann' }));
    expect([answer.status, slugOf(answer)]).toEqual([409, 'member-modified']);
    expect((await members.stored(id))!['data'].contactname).not.toBe('Ann');
    expect((await members.patch(id, { contactname: 'Ann' })).status).toBe(200);
  });

  it('409 member-modified for an address too', async () => {
    const id = await members.born();
    const answer = await meanwhile(set(id, { 'data.address': { city: 'Vienna' } }), () =>
      members.patchAddress(id, { city: 'Graz' }),
    );
    expect([answer.status, slugOf(answer)]).toEqual([409, 'member-modified']);
    expect((await members.stored(id))!['data'].address).toEqual({ city: 'Vienna' });
  });

  it('404 where the member was deleted', async () => {
    const id = await members.born();
    const remove: HeldWrite = (collection, options) =>
      collection.deleteOne({ ...members.app.tenant, id }, options);
    const answer = await meanwhile(remove, () => members.patch(id, { contactname: 'Ann' }));
    expect([answer.status, slugOf(answer)]).toEqual([404, 'unknown-member']);
  });

  it('the key that the service keeps beside data is no change', async () => {
    const id = await members.born();
    const answer = await meanwhile(set(id, { emailkey: newEmail() }), () =>
      members.patch(id, { contactname: 'Ann' }),
    );
    expect(answer.status).toBe(200);
    expect(itemOf(answer).data?.['contactname']).toBe('Ann');
  });

  it('409 email-conflict where another took the address meanwhile', async () => {
    const id = await members.born();
    const email = newEmail();
    const other = await members.born();
    const take = set(other, { 'data.email': email, emailkey: email });
    const answer = await meanwhile(take, () => members.patch(id, { email }));
    expect([answer.status, slugOf(answer)]).toEqual([409, 'email-conflict']);
  });
});
