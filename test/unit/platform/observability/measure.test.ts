import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import {
  measure,
  Metrics,
  type RequestLine,
  type ServiceLogger,
  Tracing,
} from '../../../../src/platform/observability/index.js';

interface Ended {
  statusCode?: number;
  headersSent?: boolean;
  /** Node's: null if the answer has waited behind another one of its connection, or is complete. */
  socket?: null;
  writableFinished?: boolean;
  isUnasked?: boolean;
  metrics?: Metrics;
}

/** A request that has ended: its log lines, and how often its end was told of. */
function ended(originalUrl: string, { isUnasked = false, metrics = new Metrics(), ...answer }: Ended = {}) {
  const seen = { lines: [] as RequestLine[], told: 0 };
  const logger = {
    request: (_status: number, line: () => RequestLine) => seen.lines.push(line()),
  } as unknown as ServiceLogger;
  const whole = { statusCode: 200, headersSent: true, socket: null, writableFinished: true };
  const response = Object.assign(new EventEmitter(), { ...whole, ...answer }) as unknown as Response;
  const route = { path: '/:org/:app/api/v1/product/max' };
  const request = { id: 'x', method: 'GET', originalUrl, route } as unknown as Request;
  const observers = {
    ended: () => (seen.told += 1),
    about: () => ({ user: 'ann' }),
    tenant: () => undefined,
    kindOf: () => undefined,
    isUnasked: () => isUnasked,
  };
  measure({ metrics, logger, tracing: Tracing.off }, observers)(request, response, () => undefined);
  response.emit('close');
  return seen;
}

const MAX = '/acme/shop/api/v1/product/max';

describe('A request that has ended', () => {
  it.each(['/health/live', '/health/ready', '/metrics', '/metrics?name=x'])('is not logged: %s', (url) => {
    expect(ended(url)).toEqual({ lines: [], told: 1 });
    expect(ended(url, { statusCode: 503 })).toEqual({ lines: [], told: 1 });
  });

  it.each([MAX, '/metrics2', '/openapi.json'])('is logged: %s', (url) => {
    expect(ended(url)).toMatchObject({ lines: [{ req: { url } }], told: 1 });
  });

  it('is logged with the first 1,000 characters of its URL', () => {
    const [line] = ended(`/${'a'.repeat(15_000)}`).lines;
    expect(line?.req.url).toBe(`/${'a'.repeat(999)}… (15001 characters)`);
    const longest = `/${'a'.repeat(999)}`;
    expect(ended(longest).lines[0]?.req.url).toBe(longest);
  });

  it('is logged with what others know of it', () => {
    expect(ended(MAX).lines).toEqual([
      {
        req: { id: 'x', method: 'GET', url: MAX },
        res: { statusCode: 200 },
        responseTime: expect.any(Number),
        user: 'ann',
      },
    ]);
  });

  it('has no status where its client has left before the answer, and without a login no route', async () => {
    const metrics = new Metrics();
    const [line] = ended(MAX, { headersSent: false, metrics }).lines;
    expect(line?.res).toEqual({ statusCode: null });
    expect(await metrics.registry.metrics()).toContain(
      'tidemark_http_request_seconds_count{method="none",route="none",status="none"} 1\n',
    );
  });

  it('has no status where its answer was ready, but has waited behind another one of its connection', () => {
    expect(ended(MAX, { writableFinished: false }).lines[0]?.res).toEqual({ statusCode: null });
    expect(ended(MAX).lines[0]?.res).toEqual({ statusCode: 200 });
  });

  it('that nobody has asked for is logged where it fails', () => {
    expect(ended('/admin/v1/figures', { isUnasked: true })).toEqual({ lines: [], told: 1 });
    expect(ended('/admin/v1/figures', { isUnasked: true, statusCode: 401 }).lines).toHaveLength(1);
  });
});
