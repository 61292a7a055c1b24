import { visible } from '../common/index.js';

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

/** Built-in error classes indicate a fault of the program: their message alone does not explain it. */
const NAMELESS = new Set(['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError']);
const GRAVE = new Set(['error', 'fatal']);
const LONGEST_LEVEL = 5;
/** A value that needs no quotes to be distinguished from its surroundings. */
const PLAIN = /^[^\s"=]+$/;

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
