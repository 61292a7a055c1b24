import { Tracing } from '../../../../src/platform/observability/index.js';

it('a stop does not wait for a receiver of traces that hangs', async () => {
  const tracing = new Tracing(undefined, () => new Promise(() => undefined));
  await expect(tracing.onApplicationShutdown()).resolves.toBeUndefined();
});

it('a stop does not fail where the traces cannot be sent', async () => {
  const tracing = new Tracing(undefined, () => Promise.reject(new Error('no receiver')));
  await expect(tracing.onApplicationShutdown()).resolves.toBeUndefined();
});

it('without a receiver, work runs as it is, and no request has a span', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(Tracing.off.request({ method: 'GET', scheme: 'http', traceparent })).toBeUndefined();
  expect(Tracing.off.traceId).toBeUndefined();
  const result = {};
  expect(await Tracing.off.work('work', {}, () => Promise.resolve(result))).toBe(result);
});
