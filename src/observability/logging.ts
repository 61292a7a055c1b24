import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, pino } from 'pino';

const STDOUT = 1;

const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** A request whose answer has ended, or was broken off. */
export interface RequestLine {
  req: { id: unknown; method: string; url: string };
  res: { statusCode: number };
  /** Milliseconds. */
  responseTime: number;
}

/** JSON lines on stdout. Credentials never reach them. Nest says last in whose name it speaks. */
export class ServiceLogger implements LoggerService {
  private readonly lines: ReturnType<typeof pino>;

  constructor(level: string, output: DestinationStream = pino.destination(STDOUT)) {
    this.lines = pino({ level }, output);
  }

  /** What Nest tells of its own start is for its developers: level debug. */
  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
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

  /** Nothing is put together where nobody reads it. */
  request(statusCode: number, line: () => RequestLine): void {
    const level = statusCode >= 500 ? 'error' : 'info';
    if (this.lines.isLevelEnabled(level)) this.lines[level](line(), 'request ended');
  }

  /** A message is a text, behind which a stack may stand, an error, or an object with its text behind it. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    if (!this.lines.isLevelEnabled(level)) return;
    const context = rest.at(-1);
    const behind = rest.length > 1 ? rest[0] : undefined;
    if (message instanceof Error) this.lines[level]({ context, err: message });
    else if (typeof message === 'object') this.lines[level]({ context, ...message }, behind as string);
    else this.lines[level]({ context, ...(behind !== undefined && { stack: behind }) }, message as string);
  }
}
