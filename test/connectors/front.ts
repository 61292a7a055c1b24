import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as forward,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** As the service does: a tool may write a page for a long time before it asks for the next one. */
const KEEP_ALIVE_MS = 75_000;

/** What is answered in place of the service. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
}

/** In place of an answer the connection is closed. */
export const CUT = 'cut';

type Instead = Reply | typeof CUT | undefined;

/** Is told of each request with its turn, from 1 on, before it goes through, and may change its URL or answer it. */
export type Meanwhile = (url: URL, turn: number) => Promise<Instead> | Instead;

/** Stands before the service, so that a test can do something between two pages of a tool. */
export class Front {
  /** The requests since `begin`, as the tool sent them. */
  asked: URL[] = [];
  private meanwhile: Meanwhile = () => undefined;

  private constructor(
    private readonly target: string,
    private readonly server: Server,
  ) {
    server.on(
      'request',
      (request: IncomingMessage, response: ServerResponse) => void this.lead(request, response),
    );
  }

  static async before(target: string): Promise<Front> {
    const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Front(target, server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Forgets what was asked, and does this with what will be. */
  begin(meanwhile: Meanwhile = () => undefined): void {
    this.asked = [];
    this.meanwhile = meanwhile;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async lead(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.target);
    this.asked.push(new URL(url));
    const reply = await this.meanwhile(url, this.asked.length);
    if (reply === CUT) {
      response.destroy();
      return;
    }
    if (reply !== undefined) {
      response.writeHead(reply.status, { 'content-type': 'application/problem+json', ...reply.headers });
      response.end('{"detail":"Answered by a test."}');
      return;
    }
    const onwards = forward(url, { method: request.method ?? 'GET', headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => undefined);
    });
    onwards.on('error', () => response.destroy());
    request.pipe(onwards);
  }
}
