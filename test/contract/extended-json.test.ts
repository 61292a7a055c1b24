import { expectProblem, send, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  await service.heard();
});

const place = () => `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}`;
const put = (name: string, filter: object) =>
  send(`${place()}/services/product/${name}`, 'PUT', { user: root, body: { filter } });
const configuration = (filter: object) => ({
  applications: [{ ...app.tenant, services: [{ kind: 'product', name: 'whole', filter }] }],
});
const ask = (path: string, filter: object) =>
  send(`${service.url}/admin/v1/configuration/${path}`, 'POST', { user: root, body: configuration(filter) });

describe('Extended JSON in a filter', () => {
  it.each([
    [{ _id: { $oid: 'zz' } }, '{"$oid":"zz"}'],
    [{ 'data.b': { $binary: 'x' } }, '{"$binary":"x"}'],
    [{ 'data.t': { $regularExpression: 5 } }, '{"$regularExpression":5}'],
    [{ 'data.t': { $regularExpression: { pattern: 'a\0', options: '' } } }, '"$regularExpression"'],
    [{ 'data.n': { $numberLong: '9223372036854775808' } }, '{"$numberLong":"9223372036854775808"}'],
    [{ 'data.n': { $numberLong: 'many' } }, '{"$numberLong":"many"}'],
    [{ 'data.n': { $numberInt: '2147483648' } }, '{"$numberInt":"2147483648"}'],
    [{ 'data.n': { $numberDouble: 'many' } }, '{"$numberDouble":"many"}'],
    [{ 'data.n\0': 1 }, 'data.n'],
    [
      { 'data.t': { $timestamp: { t: 4294967296, i: 1 } } },
      'data.t has {"$timestamp":{"t":4294967296,"i":1}}',
    ],
    [
      { 'data.t': { $lt: { $date: '2027-02-30T00:00:00Z' } } },
      'data.t.$lt has {"$date":"2027-02-30T00:00:00Z"}',
    ],
    [{ 'data.t': { $date: { $numberLong: '8640000000000001' } } }, 'data.t has {"$date"'],
    [{ 'data.n': { $in: [{ $numberDecimal: '1e6200' }] } }, 'data.n.$in[0] has {"$numberDecimal":"1e6200"}'],
    [{ 'data.n': { $numberDouble: '' } }, 'data.n has {"$numberDouble":""}'],
    [{ 'data.b': { $uuid: '9f1c' } }, 'data.b has {"$uuid":"9f1c"}'],
    [{ 'data.b': { $binary: { base64: '!!', subType: '00' } } }, 'data.b has {"$binary"'],
  ])('%j is not valid, however it is sent, and nothing is stored', async (filter, told) => {
    const preview = send(`${place()}/preview/product`, 'POST', { user: root, body: { filter } });
    for (const answer of await Promise.all([put('whole', filter), preview]))
      expect(expectProblem(answer, 400, 'invalid-request').errors).toEqual([
        { pointer: '/filter', detail: expect.stringContaining(told) as string },
      ]);
    for (const answer of [await ask('plan', filter), await ask('apply', filter)])
      expect(expectProblem(answer, 400, 'invalid-request').errors).toMatchObject([
        { pointer: '/applications/0/services/0/filter' },
      ]);
    expect(await service.db.collection('services').countDocuments(app.tenant)).toBe(0);
  });

  it('a timestamp is shown as one, and may be sent again', async () => {
    const filter = { 'data.t': { $timestamp: { t: 1700000000, i: 1 } } };
    const shown = (await put('whole', filter)).json as { filter: object };
    expect(shown.filter).toEqual(filter);
    expect((await ask('plan', shown.filter)).json).toMatchObject({ changes: [] });
  });

  it('a number of 64 bits keeps its digits in answers and in the configuration', async () => {
    const filter = { 'data.n': { $numberLong: '9007199254740993' } };
    expect((await put('whole', filter)).json).toMatchObject({ filter });
    expect((await ask('plan', filter)).json).toMatchObject({ changes: [] });
    const other = { 'data.n': { $numberLong: '9007199254740992' } };
    expect((await ask('plan', other)).json).toMatchObject({ changes: [{ changed: ['filter'] }] });
    await app.put('product', { id: 'big', data: { n: 9007199254740993n } });
    await app.put('product', { id: 'near', data: { n: 9007199254740992n } });
    const shown = (await put('whole', filter)).json as { filter: object };
    await put('whole', shown.filter);
    expect((await app.feed('product', 'whole').page()).ids).toEqual(['big']);
  });
});
