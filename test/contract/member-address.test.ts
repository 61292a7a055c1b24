import { TestService } from '../support/index.js';
import { itemOf, MemberClient, newEmail, stampOf } from './member-client.js';

const EMPTY = { address: '', address2: '', zipcode: '', city: '', country: '' };

let service: TestService;
let members: MemberClient;

beforeAll(async () => {
  service = await TestService.shared();
  members = new MemberClient(await service.application());
});

describe('PATCH /member/{memberid}/address: 200, the member as an update item', () => {
  it('where there was none, all five are created, empty but for those given', async () => {
    const email = newEmail();
    const id = await members.born({ email, contactname: 'Ann' });
    const answer = await members.patchAddress(id, { city: 'Vienna', country: null });
    expect(answer.status).toBe(200);
    const address = { ...EMPTY, city: 'Vienna' };
    expect(itemOf(answer).data).toEqual({ accountnumber: '4711', email, contactname: 'Ann', address });
    expect(answer.json).toEqual((await members.read(id)).json);
    expect((await members.stored(id))?.['data'].address).toEqual(address);
  });

  it('only the fields present change; deleting one makes it ""', async () => {
    const id = await members.born();
    const full = { address: 'Main Street 1', address2: 'C', zipcode: '1010', city: 'Vienna', country: 'AT' };
    await members.patchAddress(id, full);
    const before = await members.stored(id);
    const answer = await members.patchAddress(id, { address2: null, zipcode: '', city: 'Graz' });
    const address = { ...full, address2: '', zipcode: '', city: 'Graz' };
    expect(itemOf(answer).data?.['address']).toEqual(address);
    const after = await members.stored(id);
    expect(after).toEqual({
      ...before,
      lastupdated: after?.['lastupdated'],
      data: { ...before?.['data'], address },
    });
    expect(stampOf(after)).toBeGreaterThan(stampOf(before));
  });

  it('what another program put beside the five stays', async () => {
    const data = { address: { city: 'Vienna', floor: 3, zipcode: 1010 }, email: newEmail() };
    const id = String((await members.app.member({ data }))['id']);
    const answer = await members.patchAddress(id, { country: 'AT', zipcode: null });
    expect(itemOf(answer).data?.['address']).toEqual({
      city: 'Vienna',
      floor: 3,
      zipcode: '',
      country: 'AT',
    });
  });

  it.each(['text', ['Vienna'], null])('an address that is %j is none', async (address) => {
    const id = String((await members.app.member({ data: { address, email: newEmail() } }))['id']);
    const answer = await members.patchAddress(id, { city: 'Graz' });
    expect(itemOf(answer).data?.['address']).toEqual({ ...EMPTY, city: 'Graz' });
  });

  it('a patch that changes nothing answers 200 and moves no timestamp', async () => {
    const id = await members.born();
    await members.patchAddress(id, { city: 'Vienna' });
    const before = await members.stored(id);
    for (const patch of [{}, { city: 'Vienna' }, { address: '', zipcode: null }]) {
      expect((await members.patchAddress(id, patch)).status).toBe(200);
    }
    expect(await members.stored(id)).toEqual(before);
    const homeless = await members.born();
    const unmoved = await members.stored(homeless);
    expect((await members.patchAddress(homeless, {})).status).toBe(200);
    expect(await members.stored(homeless)).toEqual(unmoved);
  });
});
