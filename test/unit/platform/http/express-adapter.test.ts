import { once } from 'node:events';
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express, Request, Response } from 'express';
import { ReadyExpressAdapter } from '../../../../src/platform/http/index.js';
import { send } from '../../../support/index.js';

let server: Server;
afterEach(() => server.close());

it('what Express would make of requests and answers they are already', async () => {
  const adapter = new ReadyExpressAdapter();
  adapter.initHttpServer();
  const app = adapter.getInstance<Express>();
  app.get('/path', (request: Request, response: Response) => void response.json({ path: request.path }));
  server = adapter.getHttpServer();
  const made: object[] = [];
  server.prependListener('request', (request, response) =>
    made.push(Object.getPrototypeOf(request) as object, Object.getPrototypeOf(response) as object),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { json } = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/path`, 'GET', {});
  expect(json).toEqual({ path: '/path' });
  expect(made).toEqual([app.request, app.response]);
  expect(app.request).toBeInstanceOf(IncomingMessage);
  expect(app.response).toBeInstanceOf(ServerResponse);
});
