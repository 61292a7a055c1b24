import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as requestTo,
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

/** An answer as it came from the service. */
interface RawAnswer {
  status: number;
  headers: [name: string, value: string][];
  text: string;
}

/** They belong to one connection, or to a body that is read here or written anew. */
const NOT_PASSED = [
  'accept-encoding',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'host',
];

const READING = new Set(['GET', 'HEAD']);
/** Who gets these asks again. */
const PASSING = new Set([429, 503]);

/** The service behind a proxy that plants one fault at a time into its answers; none makes it pass everything as it is. */
export class WrongServer {
  private fault: Partial<PlantedFault> = {};
  private readonly agent = new Agent({ keepAlive: true });
  /** By what was asked; undefined where each request goes to the service. */
  private remembered: Map<string, RawAnswer> | undefined;

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

  /**
   * While nothing is written, a page up to a moment that has passed is the same whenever it is asked for, and runs of the kit
   * ask for the same pages. From now on the service is asked once for each of them; faults are planted into each answer.
   */
  remember(): void {
    this.remembered = new Map();
  }

  forget(): void {
    this.remembered = undefined;
  }

  async stop(): Promise<void> {
    this.agent.destroy();
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
    const answer = await this.answerTo(passed, left.signal);
    this.fault.answer?.(answer, passed);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const block of answer.body?.blocks ?? []) response.write(`${block}\n\n`);
    response.end(answer.body && written(answer.body));
  }

  private async answerTo(request: PassedRequest, signal: AbortSignal): Promise<PassedAnswer> {
    if (!READING.has(request.method)) this.remembered?.clear();
    const key = isSettled(request) ? keyOf(request) : undefined;
    const known = key === undefined ? undefined : this.remembered?.get(key);
    if (known !== undefined) return passedOn(known);
    const came = await this.ask(request, signal);
    const type = came.headers['content-type'] ?? '';
    if (type.startsWith('text/event-stream'))
      return {
        status: came.statusCode!,
        headers: headersOf(pairsOf(came)),
        body: { blocks: blocksOf(came) },
      };
    const raw = { status: came.statusCode!, headers: pairsOf(came), text: await text(came) };
    if (key !== undefined && !PASSING.has(raw.status)) this.remembered?.set(key, raw);
    return passedOn(raw);
  }

  private async ask(
    { method, url, headers, body }: PassedRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const sent = { method, headers: Object.fromEntries(headers), agent: this.agent, signal };
    const [answer] = (await once(requestTo(url, sent).end(body), 'response')) as [IncomingMessage];
    return answer;
  }
}

function isSettled({ method, url }: PassedRequest): boolean {
  return READING.has(method) && Date.parse(url.searchParams.get('to') ?? '') < Date.now();
}

function keyOf({ method, url, headers }: PassedRequest): string {
  return JSON.stringify([method, url.href, ...headers]);
}

function passedOn({ status, headers, text }: RawAnswer): PassedAnswer {
  const kept = headersOf(headers);
  return {
    status,
    headers: kept,
    body: text === '' ? undefined : read(text, kept.get('content-type') ?? ''),
  };
}

function headersOf(pairs: RawAnswer['headers']): Headers {
  return withoutOwn(new Headers(pairs));
}

function pairsOf({ headersDistinct }: IncomingMessage): RawAnswer['headers'] {
  return Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
}

/** Ends where the stream does, or where its client has left. */
async function* blocksOf(stream: IncomingMessage): AsyncGenerator<string, void> {
  let rest = '';
  try {
    for await (const piece of stream.setEncoding('utf8')) {
      const blocks = (rest + String(piece)).split('\n\n');
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
