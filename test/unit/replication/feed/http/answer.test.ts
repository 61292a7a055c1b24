import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  get,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { answerInTime, type Problem } from '../../../../../src/platform/http/index.js';
import { readSettings } from '../../../../../src/platform/config/index.js';
import { Metrics } from '../../../../../src/platform/observability/index.js';
import { Answers, PageTurns } from '../../../../../src/replication/feed/http/answer.js';
import { PageBytes, type PageBudget } from '../../../../../src/replication/feed/page/page-bytes.js';
import type { Page } from '../../../../../src/replication/feed/page/page-items.js';

const SIGN_MS = 10_000;
const STALLED_MS = 5000;
const answers = new Answers(
  readSettings({ STALLED_MS: String(STALLED_MS) }),
  new PageBytes(new Metrics(), { feedMemory: 64 * 1024 * 1024 }),
  new PageTurns({ credentialPages: 100 }),
);
/** A guard has let in who asks. */
const asReader: RequestHandler = (request, _response, next) => {
  request.user = { username: 'reader' };
  next();
};

const to = new Date('2025-03-04T05:06:07.008Z');

const PATIENCE_MS = 20_000;
jest.setTimeout(2 * PATIENCE_MS);

/** Not `eventually`, which would wait with a clock that stands still here. */
async function untilSo(condition: () => boolean): Promise<void> {
  for (const begun = performance.now(); !condition(); await turn()) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error(`Never so: ${condition.toString()}`);
  }
}

/** By its address: looking up a name takes its turn behind other work. */
function getFrom(server: Server): ClientRequest {
  const { port } = server.address() as AddressInfo;
  return get({ host: '127.0.0.1', port, agent: false });
}

async function* bodyOf(...pieces: string[]): AsyncGenerator<Buffer, void> {
  for (const piece of pieces) yield await Promise.resolve(Buffer.from(piece));
}

/** A page that the test gives when it likes, behind a server of its own. */
class LatePage {
  give: (page: Page) => void = () => undefined;
  refuse: (error: Error) => void = () => undefined;
  gone: AbortSignal | undefined;
  failed: unknown;
  /** The header of a page, on an answer that is none. */
  told: unknown;
  /** Whether the database shows that it is at work. */
  heard: Promise<void> = Promise.resolve();
  /** Over when it is known what the page is of. */
  opening: Promise<void> = Promise.resolve();
  /** What can be told of it already. */
  early: Record<string, string> | undefined = { Link: '<early>; rel="next"' };
  private readonly page = new Promise<Page>((resolve, reject) => {
    this.give = resolve;
    this.refuse = reject;
  });
  readonly server: Server = express()
    .use(asReader)
    .use(answerInTime({ ms: SIGN_MS, requests: 10, isExempt: () => false }))
    .get('/', (_request, response) => {
      const open = async ({ gone }: PageBudget) => {
        this.gone = gone;
        await this.opening;
        return {
          window: { from: undefined, to, isFirst: true },
          page: this.page,
          early: () => this.early,
          heard: this.heard,
        };
      };
      answers.page(response, open).catch((error: unknown) => {
        this.failed = error;
        this.told = response.getHeader('Tidemark-To');
        response.destroy();
      });
    })
    .listen(0, '127.0.0.1');

  request(): ClientRequest {
    return getFrom(this.server);
  }

  /** Lets the time pass until the page is late. */
  async isLate(): Promise<void> {
    await untilSo(() => this.gone !== undefined);
    await jest.advanceTimersByTimeAsync(0);
    await jest.advanceTimersByTimeAsync(SIGN_MS);
  }
}

let late: LatePage;
beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance', 'Date'] });
  late = new LatePage();
  await once(late.server, 'listening');
});
afterEach(() => {
  jest.useRealTimers();
  late.server.close();
  late.server.closeAllConnections();
});

async function textOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

const whole = (): Page => ({
  headers: { Link: '<x>; rel="next"' },
  length: 13,
  body: bodyOf('{"result', '":[]}'),
});

it('a page in time has all its headers, and its length', async () => {
  late.give(whole());
  const [answer] = (await once(late.request(), 'response')) as [IncomingMessage];
  expect(await textOf(answer)).toBe('{"result":[]}');
  expect(answer.headers).toMatchObject({ link: '<x>; rel="next"', 'content-length': '13' });
  expect(answer.headers['tidemark-to']).toBe(to.toISOString());
});

it('the time until it is known what a page is of counts too: it begins 10 s after it was asked for', async () => {
  let opened: () => void = () => undefined;
  late.opening = new Promise((resolve) => (opened = resolve));
  const begun = once(late.request(), 'response') as Promise<[IncomingMessage]>;
  await untilSo(() => late.gone !== undefined);
  await jest.advanceTimersByTimeAsync(SIGN_MS - 1000);
  opened();
  await jest.advanceTimersByTimeAsync(1000);
  const [answer] = await begun;
  expect(answer.headers['link']).toBe('<early>; rel="next"');
  late.give(whole());
  expect(await textOf(answer)).toMatch(/^ \{"result":\[\]\}$/);
});

it('a page that takes over 10 s begins with blanks before the JSON, so that no proxy gives up', async () => {
  const begun = once(late.request(), 'response') as Promise<[IncomingMessage]>;
  await late.isLate();
  const [answer] = await begun;
  const text = textOf(answer);
  await jest.advanceTimersByTimeAsync(3 * SIGN_MS);
  late.give(whole());
  expect(await text).toMatch(/^ {3,4}\{"result":\[\]\}$/);
  expect(answer.headers['tidemark-to']).toBe(to.toISOString());
  expect(answer.headers['link']).toBe('<early>; rel="next"');
});

it('a page that takes over 10 s while the database shows no life is 503, and reads on for nobody', async () => {
  late.heard = new Promise(() => undefined);
  const request = late.request();
  request.on('error', () => undefined);
  await late.isLate();
  await untilSo(() => late.failed !== undefined);
  expect([(late.failed as Problem).slug, late.told]).toEqual(['database-away', undefined]);
});

it('one of which nothing can be told yet is waited for', async () => {
  late.early = undefined;
  const begun = once(late.request(), 'response') as Promise<[IncomingMessage]>;
  await late.isLate();
  await jest.advanceTimersByTimeAsync(SIGN_MS);
  late.give(whole());
  const [answer] = await begun;
  expect(await textOf(answer)).toBe('{"result":[]}');
  expect(answer.headers).toMatchObject({ link: '<x>; rel="next"', 'content-length': '13' });
});

it('trouble behind the first blank breaks the answer off, and is told', async () => {
  const begun = once(late.request(), 'response') as Promise<[IncomingMessage]>;
  await late.isLate();
  const [answer] = await begun;
  const broken = textOf(answer).catch((error: Error) => error.message);
  late.refuse(new Error('no luck'));
  expect(await broken).toBe('aborted');
  expect((late.failed as Error).message).toBe('no luck');
});

it('a client that goes away is told to whoever reads for it, and is no error', async () => {
  const request = late.request();
  request.on('error', () => undefined);
  await late.isLate();
  request.destroy();
  await untilSo(() => late.gone?.aborted === true);
  late.refuse(late.gone?.reason as Error);
  for (let count = 0; count < 10; count += 1) await turn();
  expect(late.failed).toBeUndefined();
});

it('an answer that is no page does not tell its `to`, so that nobody stores it', async () => {
  const request = late.request();
  request.on('error', () => undefined);
  await untilSo(() => late.gone !== undefined);
  late.refuse(new Error('no luck'));
  await untilSo(() => late.failed !== undefined);
  expect([(late.failed as Error).message, late.told]).toEqual(['no luck', undefined]);
});

it('a client that was gone before its page was opened is read for no more', async () => {
  let gone: AbortSignal | undefined;
  const server = express()
    .use(asReader)
    .get('/', (_request, response) => {
      response.once('close', () => {
        void answers.page(response, (share) => {
          gone = share.gone;
          return Promise.reject(share.gone.reason as Error);
        });
      });
      response.socket?.destroy();
    })
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  getFrom(server).on('error', () => undefined);
  await untilSo(() => gone !== undefined);
  expect(gone?.aborted).toBe(true);
  server.close();
});

it('a client that takes nothing of a piece for STALLED_MS is disconnected', async () => {
  const pieces = Array.from({ length: 64 }, () => 'x'.repeat(256 * 1024));
  late.give({ headers: {}, length: 64 * 256 * 1024, body: bodyOf(...pieces) });
  let sent: ServerResponse | undefined;
  late.server.prependOnceListener('request', (_request, response) => (sent = response));
  const [answer] = (await once(late.request(), 'response')) as [IncomingMessage];
  let turns = 0;
  await untilSo(() => (turns = sent?.writableNeedDrain === true ? turns + 1 : 0) > 200);
  await jest.advanceTimersByTimeAsync(STALLED_MS - 1);
  expect(sent!.destroyed).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  expect(sent!.destroyed).toBe(true);
  await expect(textOf(answer)).rejects.toThrow('aborted');
});

it('so is one whose page waits behind another answer of its connection', async () => {
  late.give(whole());
  let page: ServerResponse | undefined;
  const front = createServer((request, response) => {
    if (request.url === '/first') return void response.write('begun');
    page = response;
    late.server.emit('request', request, response);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const client = connect((front.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined).resume();
  client.write(['/first', '/'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  await untilSo(() => page?.writableEnded === true);
  await jest.advanceTimersByTimeAsync(STALLED_MS);
  await untilSo(() => client.closed);
  front.close();
});
