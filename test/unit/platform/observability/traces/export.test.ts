import { startTraces } from '../../../../../src/platform/observability/traces/export.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const parent = (flags: string) => `00-${TRACE}-b7ad6b7169203331-${flags}`;

/** The id of the trace of a request, under a sampler. */
function traced(tracesSampler: string, tracesSamplerArg: number, traceparent: string | undefined) {
  const settings = {
    otlpEndpoint: 'http://127.0.0.1:1',
    otlpHeaders: undefined,
    otelServiceName: undefined,
    otelResource: undefined,
  };
  const { spans } = startTraces({ ...settings, tracesSampler, tracesSamplerArg }, () => undefined);
  return spans.request({ method: 'GET', scheme: 'http', traceparent }).traceId;
}

describe('the sampler decides which requests are recorded', () => {
  it.each([
    ['always_on', 1, parent('00'), true],
    ['always_off', 1, parent('01'), false],
    ['traceidratio', 0, parent('01'), false],
    ['traceidratio', 1, parent('00'), true],
    ['parentbased_always_on', 1, undefined, true],
    ['parentbased_always_on', 1, parent('00'), false],
    ['parentbased_always_off', 1, undefined, false],
    ['parentbased_always_off', 1, parent('01'), true],
    ['parentbased_traceidratio', 0, undefined, false],
    ['parentbased_traceidratio', 0, parent('01'), true],
    ['parentbased_traceidratio', 1, undefined, true],
  ])('%s of %d with traceparent %s: %s', (sampler, ratio, traceparent, isRecorded) => {
    expect(traced(sampler, ratio, traceparent) !== undefined).toBe(isRecorded);
  });
});

it.each(['', 'nonsense', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `ff-${TRACE}-b7ad6b7169203331-01`])(
  'an invalid traceparent begins a trace: %j',
  (traceparent) => {
    expect(traced('parentbased_always_on', 1, traceparent)).toMatch(/^(?!0af7651916cd43dd)[0-9a-f]{32}$/);
  },
);
