import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { settledWithin } from '../common/index.js';
import type { TraceSettings } from './traces/export.js';
import type { RequestSpan, Spans, TracedRequest } from './traces/spans.js';

/** At shutdown, spans that the receiver has not accepted within this time are lost (milliseconds). */
const FLUSH_MS = 2000;

/** Counts and flags of a piece of work, by name. The names and the values are exported. */
type WorkAttributes = Record<string, number | boolean>;

/**
 * Traces in the form of OpenTelemetry. Without OTEL_EXPORTER_OTLP_ENDPOINT, nothing of OpenTelemetry's SDK is loaded,
 * and there is no AsyncLocalStorage, which would make every promise more expensive.
 */
export class Tracing implements OnApplicationShutdown {
  private readonly followed = new WeakSet<object>();

  constructor(
    private readonly spans: Spans | undefined,
    private readonly shutdown: () => Promise<void>,
  ) {}

  /** Tracing that does nothing. */
  static readonly off = new Tracing(undefined, () => Promise.resolve());

  static async start({ otlpEndpoint, ...settings }: TraceSettings): Promise<Tracing> {
    if (otlpEndpoint === undefined) return Tracing.off;
    const { startTraces } = await import('./traces/export.js');
    const log = new Logger('Traces');
    const { spans, shutdown } = startTraces({ otlpEndpoint, ...settings }, (line) => log.warn(line));
    return new Tracing(spans, shutdown);
  }

  get isOn(): boolean {
    return this.spans !== undefined;
  }

  /** The id of the current trace, if one is recorded. */
  get traceId(): string | undefined {
    return this.spans?.traceId;
  }

  request(request: TracedRequest): RequestSpan | undefined {
    return this.spans?.request(request);
  }

  /** Runs work that no request asked for, in a trace of its own. `describe` gives further attributes of its result. */
  work<T>(
    name: string,
    attributes: WorkAttributes,
    work: () => Promise<T>,
    describe: (result: T) => WorkAttributes = () => ({}),
  ): Promise<T> {
    return this.spans === undefined ? work() : this.spans.work(name, attributes, work, describe);
  }

  /** Makes spans of the commands of a client, which must have been made with `monitorCommands` if tracing is on. */
  follow(client: mongo.MongoClient): void {
    if (this.spans === undefined || this.followed.has(client)) return;
    this.followed.add(client);
    this.spans.follow(client);
  }

  async onApplicationShutdown(): Promise<void> {
    const sent = this.shutdown().then(
      () => true,
      () => true,
    );
    await settledWithin(sent, FLUSH_MS);
  }
}
