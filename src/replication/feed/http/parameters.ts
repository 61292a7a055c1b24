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
import { type InputError, type ParameterReader, readParameters } from '../../../platform/http/index.js';
import { type Behind, MOST_BEHIND, type Window } from '../query/window.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { type PageRequest, type ChangesFeed, feedName } from '../page/feed.js';
import Negotiator from 'negotiator';
import { requestAfter, type ChangesRequest } from '../page/changes.js';
import { type ChangesPlace, isWithin, parsePlace, type Within, LINES_TYPE } from '../page/changes-lines.js';
import { actingCallerOf } from '../../../auth/index.js';
import { kindIn, type KindRoute } from './kind-route.js';

/** Parses the values that {@link linkTo} writes. The pattern of the parameter has validated both of them. */
function behindOf(items: string, at: string): Behind {
  return { items: Number(items), at: new mongoose.mongo.Timestamp(BigInt(`0x${at}`)) };
}

const OBJECT_ID = /^[0-9a-fA-F]{24}$/;
const LIMIT = /^\d{1,9}$/;
const BEHIND = /^([1-9]\d{0,6})-([0-9a-f]{16})$/;
const DEFAULT_LIMIT = 1000;

/** Parses the query string. Throws 400 with a sentence for each invalid parameter. */
export function parseParameters(query: Record<string, unknown>, limitMax: number): Window {
  return readParameters(query, (read) => {
    const to = requiredTo(read);
    const from = read('from', parseDate);
    const lastoffsetid = read('lastoffsetid', parseOffsetId);
    const behind = read('behind', parseBehind);
    return {
      to,
      limit: limitOf(read, limitMax),
      ...(from && { from }),
      ...(lastoffsetid && { lastoffsetid }),
      ...(behind && { behind }),
    };
  });
}

/** The `to` of a window. If it is missing or not valid, `readParameters` throws, and the returned value is not used. */
export function requiredTo(read: ParameterReader): Date {
  const missing = 'is missing. Send the offset of max, such as to=2026-11-20T10:00:00.000Z.';
  return read('to', parseDate, missing) as Date;
}

/** The requested `limit`; by default 1000, or the maximum if that is lower. */
function limitOf(read: ParameterReader, limitMax: number): number {
  return read('limit', (text) => parseLimit(text, limitMax)) ?? defaultLimit(limitMax);
}

function parseOffsetId(text: string): Parsed<mongo.ObjectId | undefined> {
  if (text === '') return { value: undefined };
  return OBJECT_ID.test(text)
    ? { value: mongo.ObjectId.createFromHexString(text) }
    : {
        error: `"${shown(text)}" is not an offset id. Send the nextoffsetid of the previous page, such as 6740a1b2c3d4e5f601234567.`,
      };
}

function parseBehind(text: string): Parsed<Behind> {
  const [, items = '', at = ''] = BEHIND.exec(text) ?? [];
  return Number(items) >= 1 && Number(items) <= MOST_BEHIND
    ? { value: behindOf(items, at) }
    : { error: `"${shown(text)}" is not a place. Follow the Link of the previous page unchanged.` };
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

/** The name of the feed of a query ({@link feedName}), and how the query is read. */
interface AskedFeed {
  feed: string;
  limitMax: number;
  /** Whether the answer is one item per line instead of a page. */
  asLines: boolean;
}

const BESIDE_CURSOR = ['from', 'to', 'lastoffsetid', 'deletes'] as const;

/** The window parameters that may accompany a `lastoffsetid`. */
interface Stated {
  from: Date | undefined;
  to: Date | undefined;
  deletes: 'skip' | undefined;
}

/** Parses the query string of `changes`. Throws 400 with a sentence for each invalid parameter. */
export function parseChanges(
  query: Record<string, unknown>,
  { feed, limitMax, asLines }: AskedFeed,
): ChangesRequest {
  return readParameters(query, (read, errors) => {
    const stated = {
      from: read('from', parseDate),
      to: read('to', parseDate),
      deletes: read('deletes', parseDeletes),
    };
    const cursor = read('cursor', (text) => parsePlace(feed, text));
    const place = read('lastoffsetid', (text) => parseOffset(feed, text, stated));
    const form = { limit: limitOf(read, limitMax), asLines };
    errors.push(...disagreeing(query, stated));
    const known = cursor ?? place;
    if (known !== undefined) return requestAfter(form, known);
    const { from, to, deletes } = stated;
    return { ...form, from, to, withDeletes: deletes === undefined, place: undefined };
  });
}

/** The errors of parameters that are valid alone but not together. */
function disagreeing(query: Record<string, unknown>, { from, deletes }: Stated): InputError[] {
  const isGiven = (name: string) =>
    query[name] !== undefined && !(name === 'lastoffsetid' && query[name] === '');
  const beside = BESIDE_CURSOR.filter((name) => query['cursor'] !== undefined && isGiven(name));
  if (beside.length > 0)
    return [{ parameter: 'cursor', detail: `goes with nothing but limit. Leave out ${beside.join(', ')}.` }];
  if (from !== undefined && deletes === 'skip')
    return [
      {
        parameter: 'deletes',
        detail:
          'is for a first harvest only: with from, deletes would be lost. Leave it out, or leave out from.',
      },
    ];
  return [];
}

function parseDeletes(text: string): Parsed<'skip'> {
  return text === 'skip'
    ? { value: text }
    : { error: `"${shown(text)}" is not known. Send deletes=skip, or leave it out.` };
}

/** A continuation repeats the window of the first page or omits it. */
function parseOffset(feed: string, text: string, stated: Stated): Parsed<ChangesPlace | undefined> {
  if (text === '') return { value: undefined };
  const parsed = parsePlace(feed, text);
  if ('error' in parsed) return { error: parsed.error.replace(/cursor/g, 'nextoffsetid') };
  const place = parsed.value;
  if (!isWithin(place)) return { error: `"${shown(text)}" leads to the next window. Send it as cursor.` };
  const isOther =
    (stated.from !== undefined && stated.from.getTime() !== place.from?.getTime()) ||
    (stated.to !== undefined && !isToOf(place, stated.to)) ||
    (stated.deletes !== undefined && place.withDeletes);
  return isOther
    ? {
        error: `"${shown(text)}" is of another window. Send the from, to and deletes of the first page beside it, or none of them.`,
      }
    : { value: place };
}

/** Whether `stated` may be the `to` of the first page. If that was later than the clock, its value is no longer known. */
function isToOf({ to, toIsClock }: Pick<Within, 'to' | 'toIsClock'>, stated: Date): boolean {
  return toIsClock ? stated >= to : stated.getTime() === to.getTime();
}

/** A request for `changes`: its feed and its page. */
export interface AskedChanges {
  feed: ChangesFeed;
  request: ChangesRequest;
}

interface Asked {
  request: Request;
  route: KindRoute;
}

/** Parses the feed and the page of a request. Throws 400 with a sentence for each invalid parameter. */
@Injectable()
class ChangesPipe implements PipeTransform<Asked, AskedChanges> {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  transform({ request, route }: Asked): AskedChanges {
    const { kind, ...tenant } = kindIn(route, request);
    const { service, channel } = request.params as Record<string, string>;
    const feed: ChangesFeed = { kind, by: channel === undefined ? { service: service! } : { channel } };
    const name = feedName(tenant, { ...feed, shows: 'changes' });
    const { limitMax } = this.settings;
    const asked = { feed: name, limitMax, asLines: takesLines(request) };
    return { feed, request: parseChanges(request.query, asked) };
  }
}

/**
 * Prefers JSON, which is also the answer to a client that accepts neither type. The console always receives JSON, because
 * its session cannot be checked again while lines are sent.
 */
function takesLines(request: Request): boolean {
  if (actingCallerOf(request) !== undefined) return false;
  return new Negotiator(request).mediaType(['application/json', LINES_TYPE]) === LINES_TYPE;
}

const ofKind = createParamDecorator((route: KindRoute, context: ExecutionContext): Asked => ({
  request: context.switchToHttp().getRequest<Request>(),
  route,
}));

/** The page of `changes` that a request asks for. */
export const ChangesOf = (route: KindRoute) => ofKind(route, ChangesPipe);
