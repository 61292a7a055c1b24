import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_NAMESPACE,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVER_ADDRESS,
  ATTR_URL_SCHEME,
} from '@opentelemetry/semantic-conventions';
import type { mongo } from 'mongoose';

/** Maximum number of commands of one request or piece of work that become spans. A pass makes millions. */
const MOST_COMMANDS = 1000;
const FIRST_FAULT = 500;
/** Maximum length of a name or code in a span (characters). Other programs choose the names of collections. */
const LONGEST_VALUE = 256;

/** What is known when a request arrives. */
export interface TracedRequest {
  /** Undefined if it is not one of the usual methods. */
  method: string | undefined;
  scheme: string;
  /** The header of that name (W3C Trace Context). */
  traceparent: string | undefined;
}

/** What is known when a request has ended. */
interface EndedRequest {
  /** The pattern of its path. */
  route: string | undefined;
  /** Undefined if the client left before an answer began. */
  status: number | undefined;
  /** The name of the problem that was sent as its answer, or `aborted`; undefined for any other answer. */
  error: string | undefined;
  organizationid?: string;
  appid?: string;
}

/** A request in progress. */
export interface RequestSpan {
  /** Undefined if the trace is not recorded. */
  traceId?: string;
  /** Runs the handlers, so that their commands become children. */
  run(work: () => void): void;
  end(ended: EndedRequest): void;
}

/** A request or piece of work in progress, in whose asynchronous context commands become its children. */
interface Scope {
  span: Span;
  context: Context;
  commands: number;
}

/** Makes the spans: of requests, of work without a request, and of the commands that each sends. */
export class Spans {
  private readonly scopes = new AsyncLocalStorage<Scope>();
  /** Commands without a reply so far, by the driver's request id. */
  private readonly commands = new Map<number, Span>();

  constructor(private readonly tracer: Tracer) {}

  /** The id of the current trace, if that is recorded. */
  get traceId(): string | undefined {
    const span = this.scopes.getStore()?.span;
    return span?.isRecording() === true ? span.spanContext().traceId : undefined;
  }

  /** Continues the trace of `traceparent`, if that is valid. The name of the span is complete only at its end. */
  request({ method, scheme, traceparent }: TracedRequest): RequestSpan {
    const remote = traceparent === undefined ? null : parseTraceParent(traceparent);
    const parent = remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
    const attributes = { [ATTR_HTTP_REQUEST_METHOD]: method ?? '_OTHER', [ATTR_URL_SCHEME]: scheme };
    const scope = this.begin(method ?? 'HTTP', SpanKind.SERVER, attributes, parent);
    const { span } = scope;
    return {
      ...(span.isRecording() && { traceId: span.spanContext().traceId }),
      run: (work) => this.scopes.run(scope, work),
      end: (ended) => {
        if (ended.route !== undefined) span.updateName(`${method ?? 'HTTP'} ${ended.route}`);
        span.setAttributes(requestAttributes(ended));
        if (ended.error !== undefined && (ended.status ?? FIRST_FAULT) >= FIRST_FAULT)
          fail(span, ended.error);
        end(scope);
      },
    };
  }

  /** Runs the work in a trace of its own. `describe` gives further attributes of its result. */
  async work<T>(
    name: string,
    attributes: Attributes,
    work: () => Promise<T>,
    describe: (result: T) => Attributes,
  ): Promise<T> {
    const scope = this.begin(name, SpanKind.INTERNAL, attributes, ROOT_CONTEXT);
    try {
      const result = await this.scopes.run(scope, work);
      scope.span.setAttributes(describe(result));
      return result;
    } catch (error) {
      fail(scope.span, errorTypeOf(error));
      throw error;
    } finally {
      end(scope);
    }
  }

  /** The client must have been made with `monitorCommands`. */
  follow(client: mongo.MongoClient): void {
    client
      .on('commandStarted', (event) => this.commandStarted(event))
      .on('commandSucceeded', ({ requestId }) => this.commandEnded(requestId))
      .on('commandFailed', ({ requestId, failure }) => this.commandEnded(requestId, failure));
  }

  private begin(name: string, kind: SpanKind, attributes: Attributes, parent: Context): Scope {
    const span = this.tracer.startSpan(name, { kind, attributes }, parent);
    return { span, context: trace.setSpan(parent, span), commands: 0 };
  }

  /**
   * Begins the span of a command, if it is one of the first of its scope. If the span of the scope is not recorded or
   * has ended, none begins: work that outlives its request still has the request's scope.
   */
  private commandStarted({
    requestId,
    commandName,
    command,
    databaseName,
    address,
  }: mongo.CommandStartedEvent) {
    const scope = this.scopes.getStore();
    if (scope?.span.isRecording() !== true) return;
    scope.commands += 1;
    if (scope.commands > MOST_COMMANDS) return;
    const collection = collectionOf(commandName, command);
    const name = collection === undefined ? commandName : `${commandName} ${collection}`;
    const attributes = {
      [ATTR_DB_SYSTEM_NAME]: 'mongodb',
      [ATTR_DB_OPERATION_NAME]: commandName,
      [ATTR_DB_NAMESPACE]: databaseName,
      [ATTR_SERVER_ADDRESS]: address,
      ...(collection !== undefined && { [ATTR_DB_COLLECTION_NAME]: collection }),
    };
    const span = this.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, scope.context);
    this.commands.set(requestId, span);
  }

  private commandEnded(requestId: number, failure?: unknown): void {
    const span = this.commands.get(requestId);
    if (span === undefined) return;
    this.commands.delete(requestId);
    if (failure !== undefined) fail(span, errorTypeOf(failure));
    span.end();
  }
}

function end({ span, commands }: Scope): void {
  if (commands > MOST_COMMANDS) span.setAttribute('tidemark.commands.omitted', commands - MOST_COMMANDS);
  span.end();
}

function requestAttributes({ route, status, error, organizationid, appid }: EndedRequest): Attributes {
  return {
    ...(route !== undefined && { [ATTR_HTTP_ROUTE]: route }),
    ...(status !== undefined && { [ATTR_HTTP_RESPONSE_STATUS_CODE]: status }),
    ...(error !== undefined && { [ATTR_ERROR_TYPE]: error }),
    ...(organizationid !== undefined && { 'tidemark.organization.name': organizationid }),
    ...(appid !== undefined && { 'tidemark.application.name': appid }),
  };
}

function fail(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute(ATTR_ERROR_TYPE, type);
}

/** The name or the code of an error, never its message, which may contain values. */
function errorTypeOf(error: unknown): string {
  const { codeName, code, name } = (error ?? {}) as Partial<Record<'codeName' | 'code' | 'name', unknown>>;
  const type = codeName ?? code ?? name;
  return typeof type === 'string' || typeof type === 'number'
    ? String(type).slice(0, LONGEST_VALUE)
    : 'unknown';
}

/** The value of a command's name is its collection, as in `{ find: 'members' }`; that of getMore is a cursor id. */
function collectionOf(commandName: string, command: mongo.Document): string | undefined {
  const named: unknown = commandName === 'getMore' ? command['collection'] : command[commandName];
  return typeof named === 'string' ? named.slice(0, LONGEST_VALUE) : undefined;
}
