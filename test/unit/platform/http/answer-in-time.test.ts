import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import {
  answerInTime,
  giveRequestId,
  handOver,
  whileReceiving,
} from '../../../../src/platform/http/index.js';
import { eventually, send } from '../../../support/index.js';

const SHORT_MS = 100;
const LONG_MS = 600_000;

/** Requests whose handler the test leads, by their path. */
class ChangeContext {
  readonly handled: string[] = [];
  readonly responses = new Map<string, Response>();
  /** The detail of the last answer. */
  detail: string | undefined;
  private readonly server: Server;

  constructor(ms: number, handle: (response: Response) => unknown = () => undefined) {
    this.server = express()
      .use(giveRequestId, answerInTime({ ms, requests: 2, isExempt: (path) => path === '/exempt' }))
      .use((request: Request, response: Response, _next: NextFunction) => {
        this.handled.push(request.path);
        this.responses.set(request.path, response);
        if (request.path === '/exempt') response.send('here');
        else handle(response);
      })
      .listen(0, '127.0.0.1');
  }

  async ask(path: string, method = 'GET') {
    if (!this.server.listening) await once(this.server, 'listening');
    const { port } = this.server.address() as AddressInfo;
    const { status, json, headers } = await send(`http://127.0.0.1:${port}${path}`, method, {});
    const { type, detail } = (json ?? {}) as { type?: string; detail?: string };
    this.detail = detail;
    return { status, slug: type?.split(':').at(-1), retryAfter: headers.get('retry-after') };
  }

  /** A request that is waited for until its handler has begun. */
  async begin(path: string) {
    const answer = this.ask(path);
    await eventually(() => this.handled.includes(path));
    return { answer };
  }

  end(path: string): void {
    this.responses.get(path)?.send('done');
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

const away = { status: 503, slug: 'database-away', retryAfter: '2' };
const busy = { status: 503, slug: 'busy', retryAfter: '2' };
const right = expect.objectContaining({ status: 200 }) as unknown;

let desk: ChangeContext;
afterEach(() => desk.close());

it('a handler that comes to no answer is answered for, and may come to one later for nobody', async () => {
  desk = new ChangeContext(SHORT_MS);
  expect(await desk.ask('/a')).toEqual(away);
  expect(() => desk.end('/a')).toThrow('after they are sent');
});

it('the answer to a request that may change something says that the change may have been made', async () => {
  desk = new ChangeContext(SHORT_MS);
  expect(await desk.ask('/a')).toEqual(away);
  expect(desk.detail).toContain('Nothing was lost');
  expect(await desk.ask('/b', 'POST')).toEqual(away);
  expect(desk.detail).toContain('the change may have been made');
});

it('only a bounded number waits; the rest is turned away at once', async () => {
  desk = new ChangeContext(LONG_MS);
  const [first, second] = [await desk.begin('/a'), await desk.begin('/b')];
  expect(await desk.ask('/c')).toEqual(busy);
  expect(await desk.ask('/exempt')).toEqual(right);
  desk.end('/a');
  expect(await first.answer).toEqual(right);
  const third = await desk.begin('/d');
  expect(await desk.ask('/e')).toEqual(busy);
  desk.end('/b');
  desk.end('/d');
  expect([await second.answer, await third.answer]).toEqual([right, right]);
  expect(desk.handled).not.toContain('/c');
});

it('those that were answered for wait no longer', async () => {
  desk = new ChangeContext(SHORT_MS);
  for (const path of ['/a', '/b', '/c', '/d']) expect(await desk.ask(path)).toEqual(away);
});

it('a request waits until its handler is done, even if its client is gone', async () => {
  desk = new ChangeContext(LONG_MS);
  for (const path of ['/a', '/b']) {
    const { answer } = await desk.begin(path);
    const gone = expect(answer).rejects.toThrow();
    desk.responses.get(path)?.socket?.destroy();
    await gone;
  }
  expect(await desk.ask('/c')).toEqual(busy);
  desk.end('/a');
  const next = await desk.begin('/d');
  desk.end('/d');
  expect(await next.answer).toEqual(right);
});

it('the time that a client takes to send its body does not count', async () => {
  let arrived = () => {};
  const body = new Promise<void>((resolve) => (arrived = resolve));
  desk = new ChangeContext(SHORT_MS, (response) =>
    whileReceiving(response, () => body).then(() => response.send('read')),
  );
  const { answer } = await desk.begin('/a');
  const others = [await desk.begin('/b'), await desk.begin('/c')];
  await new Promise((resolve) => setTimeout(resolve, 2 * SHORT_MS));
  arrived();
  for (const one of [answer, ...others.map((other) => other.answer)]) expect(await one).toEqual(right);
});

it('requests whose handlers have taken over leave their places to others', async () => {
  desk = new ChangeContext(LONG_MS, (response) => {
    if (response.req.path.startsWith('/page')) void handOver(response);
  });
  const pages = [await desk.begin('/page/1'), await desk.begin('/page/2'), await desk.begin('/page/3')];
  const [first, second] = [await desk.begin('/a'), await desk.begin('/b')];
  expect(await desk.ask('/c')).toEqual(busy);
  for (const path of ['/page/1', '/page/2', '/page/3']) desk.end(path);
  for (const { answer } of pages) expect(await answer).toEqual(right);
  expect(await desk.ask('/d')).toEqual(busy);
  for (const path of ['/a', '/b']) desk.end(path);
  expect([await first.answer, await second.answer]).toEqual([right, right]);
});

it('a handler that takes over is told when the time has come, and answers itself', async () => {
  desk = new ChangeContext(
    SHORT_MS,
    (response) => void handOver(response).then(() => response.send('late, but here')),
  );
  expect(await desk.ask('/a')).toEqual(right);
});
