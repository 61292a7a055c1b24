import { type Answer, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let app: TestApplication;
let place: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  place = `applications/${app.organizationid}/${app.appid}`;
});

const json = { 'content-type': 'application/json' };
const admin = (method: string, path: string, raw: string): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: app.user('admin'), raw, headers: json });
const errorIn = (answer: Answer) =>
  (answer.json as { errors: { pointer: string; detail: string }[] }).errors[0]!;

describe('A number of a body that is read as another one is refused with its place, and nothing is stored', () => {
  const filter = (number: string) => `{"filter": {"$or": [{"id": "x"}, {"data.price": {"$lt": ${number}}}]}}`;

  it.each([['1e999'], ['-1e999'], ['1e-999'], ['12345678901234567890123'], ['9007199254740993']])(
    '%s in a filter',
    async (number) => {
      const pointer = '/filter/$or/1/data.price/$lt';
      for (const [method, path] of [
        ['PUT', `${place}/services/product/cheap`],
        ['POST', `${place}/preview/product`],
      ] as const) {
        const answer = await admin(method, path, filter(number));
        expect(answer.status).toBe(400);
        expect(errorIn(answer).pointer).toBe(pointer);
        expect(errorIn(answer).detail).toContain(
          `the number ${number}, which would be stored as a different number`,
        );
      }
      expect(await service.db.collection('services').countDocuments(app.tenant)).toBe(0);
    },
  );

  it.each(['plan', 'apply'])('in a configuration: %s', async (what) => {
    const { organizationid, appid } = app.tenant;
    const tenant = `"organizationid": "${organizationid}", "appid": "${appid}"`;
    const one = `{"kind": "product", "name": "cheap", "filter": {"data.price": 1e999}}`;
    const body = `{"applications": [{${tenant}, "services": [${one}]}]}`;
    const answer = await admin('POST', `configuration/${what}`, body);
    expect(answer.status).toBe(400);
    expect(errorIn(answer).pointer).toBe('/applications/0/services/0/filter/data.price');
    expect(await service.db.collection('services').countDocuments(app.tenant)).toBe(0);
  });

  it.each([
    ['/elevel', '2.0000000000000001'],
    ['/elevel', '1e999'],
    ['/extrafields/shop/size', '1e999'],
  ])('%s of a member: %s', async (pointer, number) => {
    const [, name, ...inner] = pointer.split('/');
    const value = inner.reduceRight((within, key) => `{"${key}": ${within}}`, number);
    const raw = `{"accountnumber": "1", "email": "ann@example.com", "${name}": ${value}}`;
    const answer = await app.send('POST', 'api/v0.1/member', { raw, headers: json });
    expect(answer.status).toBe(400);
    expect(errorIn(answer)).toMatchObject({ pointer, detail: expect.stringContaining(number) as string });
    expect(await service.db.collection('members').countDocuments(app.tenant)).toBe(0);
  });

  it('a filter says with words that it means infinity', async () => {
    const body = '{"filter": {"data.price": {"$lt": {"$numberDouble": "Infinity"}}}}';
    expect((await admin('POST', `${place}/preview/product`, body)).status).toBe(200);
    const digits = '{"filter": {"data.price": {"$lt": {"$numberDouble": "1e999"}}}}';
    expect((await admin('POST', `${place}/preview/product`, digits)).status).toBe(400);
  });
});

describe('The commands refuse the same numbers', () => {
  const of = () => ['--org', app.organizationid, '--app', app.appid, '--kind', 'product'];

  it('in a filter', async () => {
    const console = new AdminConsole(service.uri);
    const words = ['service', 'set', ...of(), '--name', 'cheap', '--filter', '{"data.n": {"$gt": -1e999}}'];
    expect(await console.failure(words)).toContain(
      '-1e999 at /data.n/$gt would be stored as a different number',
    );
  });

  it('in a configuration file, with the line', async () => {
    const { organizationid, appid } = app.tenant;
    const input = [
      ...['applications:', `- organizationid: ${organizationid}`, `  appid: ${appid}`, '  services:'],
      ...['  - {kind: product, name: cheap, filter: {', '      data.n: 1e999}}'],
    ].join('\n');
    const said = await new AdminConsole(service.uri).failure('config plan -', { input });
    expect(said).toContain('Line 6: contains the number 1e999');
  });

  it('in an import, which goes on with the next line', async () => {
    const input = ['1e999', '9007199254740993', '1.5']
      .map((number) => `{"id": "n${number}", "data": {"rows": [{"n": ${number}}]}}\n`)
      .join('');
    const said = await new AdminConsole(service.uri).run(['import', ...of(), '-'], { input });
    expect(said.errors.join('\n')).toContain(
      'data.rows.0.n is 1e999, a number that cannot be stored exactly',
    );
    expect(said.errors.join('\n')).toContain('9007199254740993');
    expect(await service.db.collection('products').distinct('id', app.tenant)).toEqual(['n1.5']);
  });
});
