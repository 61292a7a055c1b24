import { randomUUID } from 'node:crypto';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions';
import type { Settings } from '../../config/index.js';
import { thisBuild } from '../../config/pure.js';
import { Spans } from './spans.js';

/** Maximum number of requests to the receiver at a time. Each holds one batch of spans. */
const MOST_EXPORTS = 4;
/** Time limit for a batch, with its repetitions (milliseconds). */
const EXPORT_MS = 10_000;
/** How long ended spans are collected for a batch (milliseconds). */
const COLLECT_MS = 1000;

export type TraceSettings = Pick<
  Settings,
  'otlpEndpoint' | 'otlpHeaders' | 'otelServiceName' | 'otelResource' | 'tracesSampler' | 'tracesSamplerArg'
>;

/** The settings of traces, with an endpoint. */
type ExportSettings = TraceSettings & { otlpEndpoint: string };

/** Starts the export of traces. `shutdown` sends what has ended so far. */
export function startTraces(
  settings: ExportSettings,
  log: (line: string) => void,
): { spans: Spans; shutdown: () => Promise<void> } {
  diag.setLogger(onlyWarnings(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const { otlpEndpoint, otlpHeaders: headers = {} } = settings;
  const url = `${otlpEndpoint.replace(/\/+$/, '')}/v1/traces`;
  const limits = { timeoutMillis: EXPORT_MS, concurrencyLimit: MOST_EXPORTS };
  const { origin } = new URL(url);
  const exporter = new LoggedExporter(new OTLPTraceExporter({ url, headers, ...limits }), origin, log);
  const provider = new TracerProvider({
    resource: resourceOf(settings),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: COLLECT_MS })],
  });
  const { version } = thisBuild();
  return { spans: new Spans(provider.getTracer('tidemark', version)), shutdown: () => provider.shutdown() };
}

function resourceOf({ otelResource = {}, otelServiceName }: ExportSettings) {
  return defaultResource().merge(
    resourceFromAttributes({
      [ATTR_SERVICE_NAME]: 'tidemark',
      [ATTR_SERVICE_VERSION]: thisBuild().version,
      [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
      ...otelResource,
      ...(otelServiceName !== undefined && { [ATTR_SERVICE_NAME]: otelServiceName }),
    }),
  );
}

function samplerOf({ tracesSampler, tracesSamplerArg }: ExportSettings): Sampler {
  const name = tracesSampler.replace(/^parentbased_/, '');
  const root =
    name === 'traceidratio'
      ? new TraceIdRatioBasedSampler(tracesSamplerArg)
      : name === 'always_on'
        ? new AlwaysOnSampler()
        : new AlwaysOffSampler();
  return name === tracesSampler ? root : new ParentBasedSampler({ root });
}

/**
 * Logs that the receiver does not take the spans, and later that it does, instead of every batch that is lost. Only the
 * origin is logged, because some receivers have a key in their path.
 */
class LoggedExporter implements SpanExporter {
  private isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly origin: string,
    private readonly log: (line: string) => void,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      this.logChange(result);
      // Reported as a success, because the library would log each failure.
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private logChange({ code, error }: ExportResult): void {
    const fails = code !== ExportResultCode.SUCCESS;
    if (fails === this.isFailing) return;
    this.isFailing = fails;
    const { message = '', code: number = 'no answer' } = (error ?? {}) as {
      message?: string;
      code?: string | number;
    };
    this.log(
      fails
        ? `Traces are lost, because ${this.origin} (OTEL_EXPORTER_OTLP_ENDPOINT) does not accept them: ${message || number}`
        : `${this.origin} accepts traces again`,
    );
  }
}

/**
 * Logs the library's own warnings and errors, such as that of a full queue, each once and at most 100 of them. Texts
 * that differ only in numbers count as one.
 */
function onlyWarnings(log: (line: string) => void) {
  const logged = new Set<string>();
  const warn = (message: string) => {
    const text = message.slice(0, 200).replace(/\d+/g, 'some');
    if (logged.has(text) || logged.size >= 100) return;
    logged.add(text);
    log(`OpenTelemetry: ${text}`);
  };
  const silent = () => undefined;
  return { error: warn, warn, info: silent, debug: silent, verbose: silent };
}
