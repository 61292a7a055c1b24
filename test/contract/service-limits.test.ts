import { expectProblem, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

const MOST = 1000;
const FILTER = { 'data.n': 1 };

let service: TestService;
beforeAll(async () => {
  service = await TestService.shared();
});

const services = () => service.db.collection('services');
/** Off, so that nobody has to bring them into force. */
const stored = (app: TestApplication, count: number, filter: object) =>
  services().insertMany(
    Array.from({ length: count }, (_, index) => ({
      ...{ ...app.tenant, kind: 'product', name: `s${index}`, filter, enabled: false },
    })),
  );
const ask = (app: TestApplication, method: string, name: string, body?: object) =>
  send(
    `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}/services/product/${name}`,
    method,
    { user: app.user('admin'), body },
  );
const configure = (app: TestApplication, what: string, some: object[]) =>
  send(`${service.url}/admin/v1/configuration/${what}`, 'POST', {
    user: app.user('admin'),
    body: { applications: [{ ...app.tenant, services: some }] },
  });
const words = (app: TestApplication, name: string) => [
  ...['service', 'set', '--org', app.organizationid, '--app', app.appid, '--kind', 'product'],
  ...['--name', name, '--filter', '{"data.n": 1}'],
];

describe('The services of an application are limited, by every way of writing them', () => {
  it('in number: 409, and one can be replaced or removed all the same', async () => {
    const app = await service.application();
    await stored(app, MOST, FILTER);
    const one = { kind: 'product', name: 'further', filter: FILTER };
    const sentence = 'would have 1,001 services; at most 1,000 are allowed';
    for (const answer of [
      await ask(app, 'PUT', 'further', { filter: FILTER }),
      await configure(app, 'plan', [one]),
      await configure(app, 'apply', [one]),
    ]) {
      expectProblem(answer, 409, 'too-many-services');
      expect(answer.text).toContain(sentence);
    }
    expect(await new AdminConsole(service.uri).failure(words(app, 'further'))).toContain(sentence);
    expect(await services().countDocuments(app.tenant)).toBe(MOST);
    expect((await ask(app, 'PUT', 's1', { filter: { 'data.n': 2 } })).status).toBe(200);
    expect((await ask(app, 'DELETE', 's2')).status).toBe(204);
    expect((await ask(app, 'PUT', 'further', { filter: FILTER })).status).toBe(200);
    expect((await ask(await service.application(), 'PUT', 'one', { filter: FILTER })).status).toBe(200);
  });

  it('in bytes: 409, and what other programs stored may become less', async () => {
    const app = await service.application();
    const large = (bytes: number) => ({ 'data.n': 'x'.repeat(bytes) });
    await stored(app, 70, large(60_000));
    expectProblem(await ask(app, 'PUT', 'further', { filter: FILTER }), 409, 'too-many-services');
    expectProblem(await ask(app, 'PUT', 's1', { filter: large(60_100) }), 409, 'too-many-services');
    const one = { kind: 'product', name: 's1', filter: large(60_200) };
    expectProblem(await configure(app, 'apply', [one]), 409, 'too-many-services');
    expect((await ask(app, 'PUT', 's1', { filter: FILTER })).status).toBe(200);
  });
});

describe('Edits of the services of an application are limited in rate', () => {
  it('429 with Retry-After, and another application is edited as ever', async () => {
    const [app, other] = [await service.application(), await service.application()];
    for (let edit = 0; edit < 300; edit += 1) expect((await ask(app, 'DELETE', 'none')).status).toBe(404);
    for (const answer of [
      await ask(app, 'DELETE', 'none'),
      await ask(app, 'PUT', 'one', { filter: FILTER }),
      await configure(app, 'apply', [{ kind: 'product', name: 'one', filter: FILTER }]),
    ]) {
      expectProblem(answer, 429, 'too-many-edits');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await services().countDocuments(app.tenant)).toBe(0);
    expect((await ask(other, 'PUT', 'one', { filter: FILTER })).status).toBe(200);
  });
});
