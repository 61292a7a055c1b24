import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { measure, Metrics, type ServiceLogger } from '../../../src/observability/index.js';

/** The log lines of a request that has ended, and how often its end was told of. */
function ended(originalUrl: string): { lines: number; told: number } {
  const seen = { lines: 0, told: 0 };
  const logger = { request: () => (seen.lines += 1) } as unknown as ServiceLogger;
  const response = Object.assign(new EventEmitter(), { statusCode: 200 }) as unknown as Response;
  const request = { id: 'x', method: 'GET', originalUrl } as unknown as Request;
  measure(new Metrics(), logger, () => (seen.told += 1))(request, response, () => undefined);
  response.emit('close');
  return seen;
}

describe('A request that has ended', () => {
  it.each(['/health/live', '/health/ready', '/metrics', '/metrics?name=x'])('is not logged: %s', (url) => {
    expect(ended(url)).toEqual({ lines: 0, told: 1 });
  });

  it.each(['/acme/shop/api/v1/product/max', '/metrics2', '/openapi.json'])('is logged: %s', (url) => {
    expect(ended(url)).toEqual({ lines: 1, told: 1 });
  });
});
