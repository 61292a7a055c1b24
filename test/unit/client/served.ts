import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Tidemark, type TidemarkOptions } from '../../../client/src/index.js';

/** What a client has sent. */
export interface Received {
  method: string;
  /** Behind the application. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Answers one request. */
export type Play = (response: ServerResponse, received: Received) => void;

/** A server that answers requests one after the other as a test has written it, and one too many with 418. */
export class Served {
  readonly received: Received[] = [];

  private constructor(
    private readonly server: Server,
    private readonly plays: Play[],
  ) {}

  static async start(...plays: Play[]): Promise<Served> {
    const server = createServer((request, response) => void served.answer(request, response));
    const served = new Served(server, plays);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return served;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** A client of this server, that loses no time. */
  client(options: Partial<TidemarkOptions> = {}): Tidemark {
    const { retries, ...others } = options;
    return new Tidemark({
      ...{ url: this.url, org: 'acme', app: 'shop', username: 'ann', password: 'secret' },
      retries: { firstMs: 1, ...retries },
      ...others,
    });
  }

  get paths(): string[] {
    return this.received.map(({ path }) => path);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const received = { method, path: url.replace(/^\/acme\/shop\//, ''), headers, body: await text(request) };
    this.received.push(received);
    const play = this.plays.shift() ?? problem(418, 'unexpected');
    play(response, received);
  }
}

/** A success with this body. */
export function json(body: unknown, headers: Record<string, string> = {}): Play {
  return (response) =>
    response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A problem as the service tells it. */
export function problem(status: number, slug: string, headers: Record<string, string> = {}): Play {
  const type = `urn:tidemark:problem:${slug}`;
  const body = { type, title: 'It is so', status, detail: 'It went so.', requestId: 'r1' };
  return (response) =>
    response
      .writeHead(status, { 'Content-Type': 'application/problem+json', ...headers })
      .end(JSON.stringify(body));
}

/** The connection ends without an answer. */
export const cut: Play = (response) => response.destroy();

/** The connection ends in the middle of an answer. */
export const brokenOff: Play = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.write('{"offset":"2026', () => response.destroy());
};

/** An answer that ends in good order, but too early to be JSON. */
export const short: Play = (response) => response.writeHead(200).end('{"offset":"2026');
