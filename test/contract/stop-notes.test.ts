import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { eventually, PASSWORD, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

it('a request that ends during the stop is in the audit trail, and is noted as a use of its credential', async () => {
  const username = app.user('write');
  const path = `/${app.organizationid}/${app.appid}/api/v0.1/member`;
  const body = JSON.stringify({ accountnumber: '1', email: 'last@example.com' });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const auth = `${username}:${PASSWORD}`;
  const last = request(`${service.url}${path}`, { method: 'POST', auth, headers, agent: false });
  const answered = once(last, 'response') as Promise<[IncomingMessage]>;
  const server = service.app.getHttpServer();
  const isReceived = once(server, 'request');
  last.write(body.slice(0, 5));
  await isReceived;
  const left = service.leave();
  await eventually(() => !server.listening);
  last.end(body.slice(5));
  const [answer] = await answered;
  expect(answer.statusCode).toBe(201);
  answer.resume();
  await left;
  const trail = await service.db.collection('tidemark.audittrail').find({ who: username }).toArray();
  expect(trail.map(({ action }) => action as string)).toEqual(['member.create']);
  const uses = service.db.collection<{ _id: string }>('tidemark.credentialuses');
  expect(await uses.findOne({ _id: username })).not.toBeNull();
});
