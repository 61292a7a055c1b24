import { isatty } from 'node:tty';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, pino } from 'pino';
import { visible, visibleJson } from '../common/index.js';

/** How often the same cause is logged (milliseconds). */
const LOGGED_AGAIN_MS = 5 * 60_000;
const MOST_CAUSES = 100;
const LONGEST_MESSAGE = 500;

/** Whether an error says no more than that the service cannot answer now, as without its database. */
export type IsOutage = (error: unknown) => boolean;

/** What the log says of an error. */
interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  /** Of the operating system, or of MongoDB. */
  code?: string | number;
  codeName?: string;
  syscall?: string;
}

/**
 * The part of an error that is logged: not all of its properties, since the driver's errors hold a description of every
 * server and the replies of MongoDB. An outage is not a fault of the program, so its stack is left out.
 */
export function loggedError(error: Error, isOutage: boolean): LoggedError {
  const { code, codeName, syscall } = error as Partial<Record<'code' | 'codeName' | 'syscall', unknown>>;
  return {
    type: error.constructor.name === 'Error' ? error.name : error.constructor.name,
    message: shortened(failureText(error)),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof codeName === 'string' && { codeName }),
    ...(typeof syscall === 'string' && { syscall }),
    ...(!isOutage && error.stack !== undefined && { stack: error.stack }),
  };
}

/** Of each cause of an outage one line is logged in five minutes, however many requests fail of it. */
export class LoggedCauses {
  private readonly logged = new Map<string, { at: number; withheld: number }>();

  /** How many lines of this cause were withheld since its last one; undefined where this one is withheld as well. */
  next(cause: string): number | undefined {
    const key = cause.replace(/\d+/g, '0');
    const before = this.logged.get(key);
    const now = performance.now();
    if (before !== undefined && now - before.at < LOGGED_AGAIN_MS) {
      before.withheld += 1;
      return undefined;
    }
    this.logged.delete(key);
    this.logged.set(key, { at: now, withheld: 0 });
    const [oldest] = this.logged.keys();
    if (this.logged.size > MOST_CAUSES && oldest !== undefined) this.logged.delete(oldest);
    return before?.withheld ?? 0;
  }
}

/** The message with those of its causes that it does not repeat. */
function failureText({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  const further = failureText(cause);
  return message.includes(further) ? message : `${message}: ${further}`;
}

function shortened(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}

const STDOUT = 1;
/** What is kept of lines that cannot be written now, such as to a full disk, in bytes; later ones are lost then. */
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

/** What is known of a request beside HTTP: who asked, and of a page its items and its window. */
export interface AboutRequest {
  user?: string;
  /** Who reads as that user would. */
  by?: string;
  items?: number;
  /** ISO 8601. */
  from?: string;
  to?: string;
}

/** A request whose answer has ended, or was broken off. */
export interface RequestLine extends AboutRequest {
  req: { id: unknown; method: string; url: string };
  res: { statusCode: number };
  /** Milliseconds. */
  responseTime: number;
}

/** What the settings say about the log. */
export interface LogSettings {
  logLevel: string;
  /** `json`, `lines` for people, or `auto`: lines on a terminal. */
  logFormat: string;
}

/** The log: JSON on stdout, or lines for people. Credentials never reach it. Nest says last in whose name it speaks. */
export class ServiceLogger implements LoggerService {
  private readonly lines: ReturnType<typeof pino>;

  private readonly isOutage: IsOutage;
  private readonly logged = new LoggedCauses();

  constructor(
    { logLevel, logFormat }: LogSettings,
    { output, isOutage = () => false }: { output?: DestinationStream; isOutage?: IsOutage | undefined } = {},
  ) {
    this.isOutage = isOutage;
    const isForPeople = logFormat === 'lines' || (logFormat === 'auto' && isatty(STDOUT));
    const destination = output ?? standardOutput(isForPeople);
    const options = {
      level: logLevel,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level: string) => ({ level }) },
      // Pino's own would log every property of an error.
      serializers: { err: (said: unknown) => said },
    };
    this.lines = pino(options, isForPeople ? forPeople(destination) : forMachines(destination));
  }

  /** What Nest tells of its own start is for its developers: level debug. */
  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** What goes wrong in Nest's own start goes on to whoever started it, who tells it. */
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
  request(statusCode: number, line: () => RequestLine): void {
    const level = statusCode >= 500 ? 'error' : 'info';
    if (this.lines.isLevelEnabled(level)) this.lines[level](line(), 'request ended');
  }

  /** A message is a text, optionally followed by a stack, or an error, or an object followed by its text. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    if (!this.lines.isLevelEnabled(level)) return;
    const context = rest.at(-1);
    const behind = rest.length > 1 ? rest[0] : undefined;
    if (message instanceof Error) this.writeError(level, { context, err: message }, message.message);
    else if (typeof message === 'object') this.writeError(level, { context, ...message }, behind as string);
    else this.lines[level]({ context, ...(behind !== undefined && { stack: behind }) }, message as string);
  }

  /** The lines of one cause of an outage are withheld for a while; the next one says how many they were. */
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

/** A line of the log, as its JSON says it. */
export interface LogEntry {
  level: string;
  /** ISO 8601. */
  time: string;
  /** In whose name it speaks. */
  context?: string;
  msg?: string;
  /** Where Nest gives it beside the message. */
  stack?: string;
  err?: { type: string; message: string; stack?: string; syscall?: string };
  /** A request that has ended. */
  req?: { id: string; method: string; url: string };
  res?: { statusCode: number };
  /** Milliseconds. */
  responseTime?: number;
  [more: string]: unknown;
}

/**
 * A line of the log for people on a terminal: local time, level, component, and the message, followed by all other fields.
 * For a fault of the program, its stack follows below.
 */
export function peopleLine(entry: LogEntry): string {
  const { level, time, context } = entry;
  const speaker = context === undefined ? '' : `${context}: `;
  const line = `${localTime(new Date(time))} ${level.padEnd(LONGEST_LEVEL)} ${speaker}${messageOf(entry)}`;
  const frames = framesOf(entry).map((frame) => `    ${frame}`);
  return [onOneLine(line), ...frames].map(visible).join('\n');
}

/**
 * Lines that come while others are being written are written together, all of them before the process ends; for people each
 * is written at once, in step with what they are told on stderr. That nobody takes them is no reason to end.
 */
function standardOutput(isAtOnce: boolean): DestinationStream {
  return pino
    .destination({ dest: STDOUT, sync: isAtOnce, maxLength: MOST_UNWRITTEN })
    .on('error', () => undefined);
}

/** JSON is read on terminals too: what comes from other programs does not control them. */
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
      : `${req.method} ${req.url} ${res?.statusCode} in ${responseTime} ms`;
  const {
    level: _level,
    time: _time,
    pid: _pid,
    hostname: _host,
    context: _who,
    stack: _stack,
    ...more
  } = rest;
  const told = Object.entries({ ...more, ...(req && { request: req.id }) });
  return [said, ...told.map(([name, value]) => `${name}=${shown(value)}`)].join(' ');
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
