import { expectProblem, send, type TestApplication, TestService } from '../support/index.js';

/** More than the edits that an application has in a minute. */
const MANY = 301;

let service: TestService;
let app: TestApplication;
let other: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  [app, other] = [await service.application(), await service.application()];
});
afterAll(() => service?.stop());

it('a configuration of applications that the caller does not cover uses up no edits of theirs', async () => {
  const told = Array.from({ length: MANY }, () => other.tenant);
  const answer = await send(`${service.url}/admin/v1/configuration/apply`, 'POST', {
    ...{ user: app.user('admin'), body: { applications: told } },
  });
  const path = `applications/${other.organizationid}/${other.appid}/services/product/erp`;
  const theirs = await send(`${service.url}/admin/v1/${path}`, 'PUT', {
    ...{ user: other.user('admin'), body: { filter: { 'data.n': 1 } } },
  });
  expect(theirs.status).toBe(200);
  expect(answer.status).toBe(400);
});

it('and one application of them is answered as one that does not exist', async () => {
  const answer = await send(`${service.url}/admin/v1/configuration/apply`, 'POST', {
    ...{ user: app.user('admin'), body: { applications: [other.tenant] } },
  });
  expectProblem(answer, 404, 'unknown-application');
});
