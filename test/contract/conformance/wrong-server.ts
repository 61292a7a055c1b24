import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request on its way to the service; a fault may change it. */
export interface PassedRequest {
  readonly method: string;
  url: URL;
  /** Scheme and host that the client knows. */
  readonly origin: string;
  headers: Headers;
  body: string;
}

/** The parsed body of an answer: what pages, `max` and problems hold, and what a fault adds. */
export interface PassedBody {
  offset?: string | undefined;
  result?: Record<string, unknown>[];
  /** Of an answer in lines, each of them. */
  lines?: Record<string, unknown>[];
  /** Of a stream of events, its comments and events as they come, each without the line break behind it. */
  blocks?: AsyncIterable<string>;
  to?: string | undefined;
  lastupdated?: string;
  type?: string;
  requestId?: string;
  errors?: unknown;
  [name: string]: unknown;
}

/** An answer on its way back. */
export interface PassedAnswer<Body = PassedBody | undefined> {
  status: number;
  headers: Headers;
  /** Undefined where there is none. */
  body: Body;
}

/** One thing that a wrong server does. */
export interface PlantedFault {
  /** The check that is meant to find it. */
  finds: string;
  what: string;
  request?: (request: PassedRequest) => void;
  answer?: (answer: PassedAnswer, request: PassedRequest) => void;
}

/** They belong to one connection, or to a body that is written anew. */
const NOT_PASSED = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'host',
];

/** The service behind a proxy that plants one fault at a time into its answers; none makes it pass everything as it is. */
export class WrongServer {
  private fault: Partial<PlantedFault> = {};

  private constructor(
    private readonly service: string,
    private readonly server: HttpServer,
  ) {}

  static async before(service: string): Promise<WrongServer> {
    const server = createServer();
    const wrong = new WrongServer(service, server);
    server.on('request', (request, response) => {
      wrong.pass(request, response).catch((error: unknown) => {
        if (!response.destroyed) throw error;
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return wrong;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  plant(fault: Partial<PlantedFault>): void {
    this.fault = fault;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const passed: PassedRequest = {
      method: request.method!,
      url: new URL(request.url!, this.service),
      origin: this.url,
      headers: withoutOwn(new Headers(request.headers as Record<string, string>)),
      body: await text(request),
    };
    this.fault.request?.(passed);
    const left = new AbortController();
    response.once('close', () => left.abort());
    const answer = await answerTo(passed, left.signal);
    this.fault.answer?.(answer, passed);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const block of answer.body?.blocks ?? []) response.write(`${block}\n\n`);
    response.end(answer.body && written(answer.body));
  }
}

async function answerTo(
  { method, url, headers, body }: PassedRequest,
  signal: AbortSignal,
): Promise<PassedAnswer> {
  const sent = { method, headers, body: body === '' ? null : body, signal };
  const answer = await fetch(url, { ...sent, redirect: 'manual' });
  const passed = { status: answer.status, headers: withoutOwn(answer.headers) };
  const type = answer.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) return { ...passed, body: { blocks: blocksOf(answer) } };
  const came = await answer.text();
  return { ...passed, body: came === '' ? undefined : read(came, type) };
}

/** Ends where the stream does, or where its client has left. */
async function* blocksOf({ body }: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const piece of body ?? []) {
      const blocks = (rest + decoder.decode(piece as Uint8Array, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      yield* blocks;
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
  }
}

function read(text: string, type: string): PassedBody {
  if (!type.startsWith('application/x-ndjson')) return JSON.parse(text) as PassedBody;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return { lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

function written({ lines, blocks, ...body }: PassedBody): string {
  if (blocks !== undefined) return '';
  return lines === undefined
    ? JSON.stringify(body)
    : lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function withoutOwn(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of NOT_PASSED) kept.delete(name);
  return kept;
}
