import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.js';

export interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number };
}

/** A receiver of traces in the form of OTLP over HTTP with JSON. */
export class Receiver {
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  refusals = 0;
  held = 0;
  does: 'take' | 'refuse' | 'hang' = 'take';

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (this.does === 'hang') {
          this.held += 1;
          return;
        }
        if (this.does === 'refuse') {
          this.refusals += 1;
          response.writeHead(400).end();
          return;
        }
        this.headers.push({ ...request.headers, path: request.url });
        this.bodies.push(Buffer.concat(chunks).toString());
        response.end('{}');
      });
    });
  }

  static async listen(): Promise<Receiver> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Receiver(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get spans(): ExportedSpan[] {
    type Body = { resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[] };
    return this.bodies.flatMap((body) =>
      (JSON.parse(body) as Body).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans),
      ),
    );
  }

  /** The first span that fits, once it has arrived. */
  async span(fits: (span: ExportedSpan) => boolean): Promise<ExportedSpan> {
    await eventually(() => this.spans.some(fits));
    return this.spans.find(fits)!;
  }

  childrenOf({ traceId, spanId }: ExportedSpan): ExportedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export const attributesOf = ({ attributes }: ExportedSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
