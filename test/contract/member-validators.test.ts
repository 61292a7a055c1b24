import { expectProblem, TestService } from '../support/index.js';
import { MemberClient, newEmail } from './member-client.js';

let service: TestService;
let members: MemberClient;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  members = new MemberClient(await service.application());
});
afterEach(() => validate({}));
afterAll(() => service.stop());

const validate = (validator: object) => service.db.command({ collMod: 'members', validator });
const schema = (data: object, more: object = {}) =>
  validate({ $jsonSchema: { properties: { data: { bsonType: 'object', ...data } }, ...more } });
const SECRET = 'a secret that nobody is told';

describe('a member that the validator of the collection refuses is a 400 that names the validator and the field', () => {
  it.each<[string, object, string, string, string]>([
    [
      'a pattern',
      { properties: { contactname: { pattern: '^[A-Z]' } } },
      '/contactname',
      'data.contactname',
      'pattern',
    ],
    ['a missing property', { required: ['elevel'] }, '/elevel', 'data.elevel', 'required'],
    [
      'one too many',
      { additionalProperties: false, properties: {} },
      '/contactname',
      'data.contactname',
      'additionalProperties',
    ],
  ])('POST, %s', async (_what, data, pointer, field, rule) => {
    await schema(data);
    const body = { accountnumber: '1', email: newEmail(), contactname: SECRET };
    const answer = await members.create(body);
    expectProblem(answer, 400, 'refused-by-validator');
    const { errors } = answer.json as { errors: { pointer: string; detail: string }[] };
    const detail =
      `The stored field "${field}" violates a rule of the validator of the collection "members" ("${rule}"). ` +
      'Send a value that the rule allows.';
    expect(errors).toContainEqual({ pointer, detail });
    expect(answer.text).not.toContain(SECRET);
    expect(await members.count()).toBe(0);
  });

  it.each<[string, object, object]>([
    ['a query', { 'data.elevel': { $lt: 5 } }, { elevel: 7 }],
    ['a query of several', { $and: [{ type: 'member' }, { 'data.elevel': { $lt: 5 } }] }, { elevel: 7 }],
    ['one that forbids', { $nor: [{ 'data.elevel': { $gte: 5 } }] }, { elevel: 7 }],
  ])('PATCH, %s; nothing is stored', async (_what, validator, body) => {
    const id = await members.born({ elevel: 1 });
    const before = await members.stored(id);
    await validate(validator);
    const answer = await members.patch(id, body);
    expectProblem(answer, 400, 'refused-by-validator');
    expect(answer.json).toMatchObject({
      errors: [{ pointer: '/elevel', detail: expect.stringContaining('"data.elevel"') }],
    });
    expect((await members.stored(id))?.['lastupdated']).toEqual(before?.['lastupdated']);
  });

  it('PATCH of a member that did not fit before, and of its address: the field is named that fails', async () => {
    const id = await members.born({ elevel: 1 });
    await validate({ createdBy: 'somebody else' });
    for (const answer of [
      await members.patch(id, { elevel: 2 }),
      await members.patchAddress(id, { city: 'Berlin' }),
    ]) {
      expectProblem(answer, 400, 'refused-by-validator');
      expect(answer.json).toMatchObject({
        errors: [{ pointer: '', detail: expect.stringContaining('"createdBy"') }],
      });
    }
  });

  it('an expression, of which MongoDB names no field', async () => {
    await validate({ $expr: { $eq: ['$data.elevel', 1] } });
    const answer = await members.create({ accountnumber: '1', email: newEmail(), elevel: 2 });
    expectProblem(answer, 400, 'refused-by-validator');
    expect(answer.json).toMatchObject({
      errors: [{ pointer: '', detail: expect.stringContaining('The member violates a rule') }],
    });
  });
});
