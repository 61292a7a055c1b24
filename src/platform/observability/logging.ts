import { isatty } from 'node:tty';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, pino } from 'pino';
import { visible, visibleJson } from '../common/index.js';
import { type IsOutage, loggedError, LoggedCauses } from './failures.js';

const STDOUT = 1;
/**
 * Maximum size of lines that are kept while they cannot be written, for example to a full disk (bytes). Further lines
 * are lost.
 */
const MOST_UNWRITTEN = 1024 * 1024;

const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Built-in error classes indicate a fault of the program: their message alone does not explain it. */
const NAMELESS = new Set(['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError']);
const GRAVE = new Set(['error', 'fatal']);
const LONGEST_LEVEL = 5;
/** A value that needs no quotes to be distinguished from its surroundings. */
const PLAIN = /^[^\s"=]+$/;

/** Information about a request beyond HTTP: the caller, and for a page its number of items and its window. */
export interface AboutRequest {
  user?: string;
  /** The administrator who reads as that user. */
  by?: string;
  items?: number;
  /** ISO 8601. */
  from?: string;
  to?: string;
}

/** A request whose answer has ended or was aborted. */
export interface RequestLine extends AboutRequest {
  /** If it is traced. */
  trace_id?: string;
  req: { id: unknown; method: string; url: string };
  /** Null if the connection ended before the answer. */
  res: { statusCode: number | null };
  /** Milliseconds. */
  responseTime: number;
}

/** The settings of the log. */
export interface LogSettings {
  logLevel: string;
  /** `json`, `lines` for people, or `auto`: lines on a terminal. */
  logFormat: string;
}

interface LogOptions {
  output?: DestinationStream;
  isOutage?: IsOutage | undefined;
  /** The id of the current trace, for each line. */
  traceId?: (() => string | undefined) | undefined;
}

/**
 * The log: JSON on stdout, or lines for people. It never contains credentials. Nest passes the context as the last
 * argument.
 */
export class ServiceLogger implements LoggerService {
  private readonly lines: ReturnType<typeof pino>;

  private readonly isOutage: IsOutage;
  private readonly logged = new LoggedCauses();

  constructor(
    { logLevel, logFormat }: LogSettings,
    { output, isOutage = () => false, traceId }: LogOptions = {},
  ) {
    this.isOutage = isOutage;
    const isForPeople = logFormat === 'lines' || (logFormat === 'auto' && isatty(STDOUT));
    const destination = output ?? standardOutput(isForPeople);
    const options = {
      level: logLevel,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level: string) => ({ level }) },
      // Pino's own serializer would log every property of an error.
      serializers: { err: (said: unknown) => said },
      ...(traceId && { mixin: () => traceField(traceId()) }),
    };
    this.lines = pino(options, isForPeople ? forPeople(destination) : forMachines(destination));
  }

  /** Nest's messages about its own start are for developers: level debug. */
  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** An error in Nest's own start is also thrown to the caller, which reports it: level debug. */
  error(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(String(rest.at(-1))) ? 'debug' : 'error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  /** Builds no entry that the log level drops. */
  request(statusCode: number | null, line: () => RequestLine): void {
    const level = statusCode !== null && statusCode >= 500 ? 'error' : 'info';
    if (this.lines.isLevelEnabled(level)) this.lines[level](line(), 'request ended');
  }

  /** Writes a message: a text, optionally followed by a stack; an error; or an object, followed by its text. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    if (!this.lines.isLevelEnabled(level)) return;
    const context = rest.at(-1);
    const second = rest.length > 1 ? rest[0] : undefined;
    if (message instanceof Error) this.writeError(level, { context, err: message }, message.message);
    else if (typeof message === 'object') this.writeError(level, { context, ...message }, second as string);
    else this.lines[level]({ context, ...(second !== undefined && { stack: second }) }, message as string);
  }

  /** Suppresses repeated lines of one cause of an outage for a while. The next line reports their number. */
  private writeError(level: Level, entry: { context: unknown; err?: unknown }, text: string): void {
    const { context, err } = entry;
    if (!(err instanceof Error)) return this.lines[level](entry, text);
    const isOutage = this.isOutage(err);
    const said = loggedError(err, isOutage);
    const withheld = isOutage ? this.logged.next([context, text, said.message].join(' ')) : 0;
    if (withheld === undefined) return;
    this.lines[level]({ ...entry, err: said, ...(withheld > 0 && { withheld }) }, text);
  }
}

/** Named as OpenTelemetry specifies for log formats other than its own. */
export function traceField(traceId: string | undefined): { trace_id?: string } {
  return traceId === undefined ? {} : { trace_id: traceId };
}

/** A line of the log, as parsed from JSON. */
export interface LogEntry {
  level: string;
  /** ISO 8601. */
  time: string;
  /** The component that logs. */
  context?: string;
  msg?: string;
  /** If Nest passes it along with the message. */
  stack?: string;
  err?: { type: string; message: string; stack?: string; syscall?: string };
  /** A request that has ended. */
  req?: { id: string; method: string; url: string };
  res?: { statusCode: number | null };
  /** Milliseconds. */
  responseTime?: number;
  [more: string]: unknown;
}

/**
 * A line of the log for people on a terminal: local time, level, component, and the message, followed by the other
 * fields except `pid` and `hostname`. For a fault of the program, its stack follows below.
 */
export function peopleLine(entry: LogEntry): string {
  const { level, time, context } = entry;
  const speaker = context === undefined ? '' : `${context}: `;
  const line = `${localTime(new Date(time))} ${level.padEnd(LONGEST_LEVEL)} ${speaker}${messageOf(entry)}`;
  const frames = framesOf(entry).map((frame) => `    ${frame}`);
  return [onOneLine(line), ...frames].map(visible).join('\n');
}

/**
 * The destination of the log. For machines, lines that arrive during a write are written together, and all of them
 * before the process ends. For people, each line is written at once, so that it keeps its order with the messages on
 * stderr. An output that is closed does not end the process.
 */
function standardOutput(isAtOnce: boolean): DestinationStream {
  return pino
    .destination({ dest: STDOUT, sync: isAtOnce, maxLength: MOST_UNWRITTEN })
    .on('error', () => undefined);
}

/**
 * JSON is read on terminals too, so control characters are escaped: text from other programs must not control the
 * terminal.
 */
function forMachines(output: DestinationStream): DestinationStream {
  return { write: (json) => output.write(`${visibleJson(json.trimEnd())}\n`) };
}

function forPeople(output: DestinationStream): DestinationStream {
  return { write: (json) => output.write(`${peopleLine(JSON.parse(json) as LogEntry)}\n`) };
}

function messageOf(entry: LogEntry): string {
  const { msg = '', err, req, res, responseTime, ...rest } = entry;
  const said =
    req === undefined
      ? [msg, ...(err === undefined || err.message === msg ? [] : [err.message])].join(': ')
      : `${req.method} ${req.url} ${res?.statusCode ?? 'not answered'} in ${responseTime} ms`;
  const {
    level: _level,
    time: _time,
    pid: _pid,
    hostname: _host,
    context: _who,
    stack: _stack,
    ...more
  } = rest;
  const fields = Object.entries({ ...more, ...(req && { request: req.id }) });
  return [said, ...fields.map(([name, value]) => `${name}=${shown(value)}`)].join(' ');
}

function onOneLine(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
}

function shown(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
}

function framesOf({ level, err, stack = err?.stack }: LogEntry): string[] {
  const isClear = err !== undefined && (!NAMELESS.has(err.type) || err.syscall !== undefined);
  if (isClear || !GRAVE.has(level)) return [];
  return (stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
}

/** Such as `2026-11-24 20:45:12.345`. */
function localTime(time: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  return `${day} ${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
