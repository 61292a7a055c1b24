import mongoose, { mongo } from 'mongoose';
import {
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import { type Parsed, parseDate, shown } from '../../../platform/common/index.js';
import { type InputError, problems } from '../../../platform/http/index.js';
import { type Behind, MOST_BEHIND, type Window } from '../query/window.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import type { PageRequest } from '../page/feed.js';

/** Parses the values that {@link linkTo} writes. The pattern of the parameter has validated both of them. */
export function behindOf(items: string, at: string): Behind {
  return { items: Number(items), at: new mongoose.mongo.Timestamp(BigInt(`0x${at}`)) };
}

const OBJECT_ID = /^[0-9a-fA-F]{24}$/;
const LIMIT = /^\d{1,9}$/;
const BEHIND = /^([1-9]\d{0,6})-([0-9a-f]{16})$/;
const DEFAULT_LIMIT = 1000;

/** Parses the query string. Throws 400 with a sentence for each invalid parameter. */
export function parseParameters(query: Record<string, unknown>, limitMax: number): Window {
  const errors: InputError[] = [];
  const read = readerOf(query, errors);
  const to = read('to', parseDate);
  const from = read('from', parseDate);
  const lastoffsetid = read('lastoffsetid', parseOffsetId);
  const behind = read('behind', parseBehind);
  const limit = limitOf(read, limitMax);
  if (query['to'] === undefined) errors.push(toIsMissing());
  if (to === undefined || errors.length > 0) throw problems.invalidRequest(errors);
  return {
    to,
    limit,
    ...(from && { from }),
    ...(lastoffsetid && { lastoffsetid }),
    ...(behind && { behind }),
  };
}

/** The error for a required `to` that was not sent. */
export function toIsMissing(): InputError {
  return {
    parameter: 'to',
    detail: 'is missing. Send the offset of max, such as to=2026-11-20T10:00:00.000Z.',
  };
}

/** Parses an optional parameter. An error is added to the list of errors. */
export type ParameterReader = <T>(parameter: string, parse: (text: string) => Parsed<T>) => T | undefined;

export function readerOf(query: Record<string, unknown>, errors: InputError[]): ParameterReader {
  return (parameter, parse) => {
    const text = query[parameter];
    if (text === undefined) return undefined;
    const parsed =
      typeof text === 'string' ? parse(text) : { error: 'is given more than once. Send it once.' };
    if ('value' in parsed) return parsed.value;
    errors.push({ parameter, detail: parsed.error });
    return undefined;
  };
}

/** The requested `limit`; by default 1000, or the maximum if that is lower. */
export function limitOf(read: ParameterReader, limitMax: number): number {
  return read('limit', (text) => parseLimit(text, limitMax)) ?? defaultLimit(limitMax);
}

function parseOffsetId(text: string): Parsed<mongo.ObjectId | undefined> {
  if (text === '') return { value: undefined };
  return OBJECT_ID.test(text)
    ? { value: mongo.ObjectId.createFromHexString(text) }
    : {
        error: `"${shown(text)}" is not an offset id. Send the nextoffsetid of the page before, such as 6740a1b2c3d4e5f601234567.`,
      };
}

function parseBehind(text: string): Parsed<Behind> {
  const [, items = '', at = ''] = BEHIND.exec(text) ?? [];
  return Number(items) >= 1 && Number(items) <= MOST_BEHIND
    ? { value: behindOf(items, at) }
    : { error: `"${shown(text)}" is not a place. Follow the Link of the page before as it is.` };
}

function parseLimit(text: string, limitMax: number): Parsed<number> {
  const limit = LIMIT.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= limitMax
    ? { value: limit }
    : {
        error: `"${shown(text)}" is not a limit. Send a whole number from 1 to ${limitMax}, such as ${defaultLimit(limitMax)}.`,
      };
}

function defaultLimit(limitMax: number): number {
  return Math.min(DEFAULT_LIMIT, limitMax);
}

/** Parses the page of a request. Throws 400 with a sentence for each invalid parameter. */
@Injectable()
class PageRequestPipe implements PipeTransform<Request, PageRequest> {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  transform({ query }: Request): PageRequest {
    return { window: parseParameters(query, this.settings.limitMax) };
  }
}

const RequestItself = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

/** The page that a request asks for: the window of its parameters. */
export const AskedPage = () => RequestItself(PageRequestPipe);
