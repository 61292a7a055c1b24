import { send, type TestApplication, TestService } from '../support/index.js';

interface Preview {
  plan: { advice: object | null };
  warnings: { path: string; detail: string }[];
}

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  await app.product({ data: { category: 'bikes', size: { cm: 5 }, rows: [{ n: 1 }] } });
});

async function preview(filter: object, of = app): Promise<Preview> {
  const url = `${service.url}/admin/v1/applications/${of.organizationid}/${of.appid}/preview/product`;
  return (await send(url, 'POST', { user: of.user('admin'), body: { filter } })).json as Preview;
}

describe('A preview warns of a field that no record has, at any depth', () => {
  it.each<[string, object, string, string]>([
    ['in the data', { 'data.categry': 'bikes' }, 'data.categry', 'data.categry'],
    [
      'deeper',
      { $or: [{ 'data.size.mm': 5 }, { 'data.size.cm': 5 }] },
      '$or[0].data.size.mm',
      'data.size.mm',
    ],
    [
      'in a field that is no document',
      { 'data.category.name': 'x' },
      'data.category.name',
      'data.category.name',
    ],
    ['of an element', { 'data.rows': { $elemMatch: { m: 1 } } }, 'data.rows.$elemMatch.m', 'data.rows.m'],
  ])('%s', async (_name, filter, path, field) => {
    const { warnings, plan } = await preview(filter);
    expect(warnings).toEqual([{ path, detail: `No product has the field "${field}"; is its name right?` }]);
    expect(plan.advice).toBeNull();
  });

  it('and not of those that some have, nor where there is no record yet', async () => {
    const filter = { 'data.category': 'x', 'data.size.cm': 1, 'data.rows.n': 1, 'data.rows.0.n': 1 };
    const { warnings, plan } = await preview(filter);
    expect(warnings).toEqual([]);
    expect(plan.advice).toEqual({ organizationid: 1, appid: 1, 'data.category': 1 });
    expect((await preview({ 'data.any': 1 }, await service.application())).warnings).toEqual([]);
  });

  it('and tells nothing of a field that no answer shows', async () => {
    await app.product({ data: { passwordhash: 'x' } });
    const { warnings } = await preview({ passwordhash: 'x' });
    expect(warnings).toEqual([{ path: 'passwordhash', detail: 'No product has the field "passwordhash".' }]);
  });
});
