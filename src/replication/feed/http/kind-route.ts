import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import { problems, answeredProblem } from '../../../platform/http/index.js';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import {
  BUILT_IN_KINDS,
  describedKind,
  isBuiltIn,
  KIND_NAME,
  type Kind,
  CHANNEL_KIND,
} from '../../../kinds/index.js';
import { type KindAsked, KnownKinds } from '../../store/index.js';
import { actingCallerOf, callerOf } from '../../../auth/index.js';
import { parseDate } from '../../../platform/common/index.js';
import type { AboutRequest, Metrics } from '../../../platform/observability/index.js';
import { type Call, EVERY_SERVICE } from '../consumers/gathered.js';
import type { ConsumerNotes } from '../consumers/consumer-notes.js';
import { sentOf } from './answer.js';

/** The part of a path that names a kind: a built-in kind, or a parameter for those that an operator has created. */
export type KindRoute = Kind;

const CREATED: KindRoute = ':kind';

/** The routes of all kinds. That of created kinds comes last, because it matches the paths of the others too. */
export const KIND_ROUTES: readonly KindRoute[] = [...BUILT_IN_KINDS, CREATED];

/** The word for the records of a route in the OpenAPI document. */
export function pluralOf(route: KindRoute): string {
  return route === CREATED ? 'records' : describedKind(route).plural;
}

/** The kind that a request names, or the built-in kind of its route, in its application. */
export function kindIn(route: KindRoute, { params }: Request): KindAsked {
  const { org, app, kind } = params as Record<string, string>;
  return { organizationid: org!, appid: app!, kind: route === CREATED ? kind! : route };
}

/**
 * Refuses a path with an unknown kind before the parameters of the request are checked, but after its login and its
 * application: 404 `unknown-kind`. A path that spells the name of a kind in another way, such as `%6Dember`, or that
 * names no possible kind does not exist: 404 `not-found`.
 */
@Injectable()
class KindGuard implements CanActivate {
  constructor(private readonly kinds: KnownKinds) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const asked = kindIn(CREATED, request);
    const isWritten = request.path.split('/')[KIND_PLACE] === asked.kind && KIND_NAME.test(asked.kind);
    if (!isWritten || isBuiltIn(asked.kind)) throw problems.notFound();
    await this.kinds.assertKnown(asked);
    return true;
  }
}

/** The index of the kind in `/{org}/{app}/api/v1/{kind}`, split at the slashes. */
const KIND_PLACE = 5;

/**
 * Guards the route of created kinds, and keeps it out of the OpenAPI document, which has the paths of each created kind
 * instead (contract §8).
 */
export const Documented = (route: KindRoute) =>
  applyDecorators(
    ApiExcludeController(route === CREATED),
    ...(route === CREATED ? [UseGuards(KindGuard)] : []),
  );

/** The kind of a request. */
export const KindOf = createParamDecorator(
  (route: KindRoute, context: ExecutionContext): Kind =>
    kindIn(route, context.switchToHttp().getRequest<Request>()).kind,
);

const FEED_PATH = new RegExp(
  String.raw`^/:org/:app/api/v1/(${[...KIND_ROUTES, 'productbychannel'].join('|')})/(?:(?::service|:channel)/)?(max|updates|softdeletes|harddeletes|changes|digest)$`,
);
/** A request with one of these statuses reads no feed: the service, the access or the credential is missing. */
const NOT_READ = new Set([401, 403, 404]);

/** `kind` is undefined if it is a parameter of the path. */
type Route = Pick<Call, 'feed'> & { kind: Kind | undefined; isChannel: boolean };

const routes = new Map<string, Route | undefined>();

/**
 * Counts the items that a request to a feed received, but not those of a digest, once it has ended, and notes its
 * result. Not noted are requests that read no feed ({@link NOT_READ}), requests on behalf of another user, HEAD
 * requests, and digests that were cut off.
 */
export function noteConsumer(notes: ConsumerNotes, { items }: Metrics) {
  return (request: Request, response: Response): void => {
    const route = routeOf((request.route as { path?: unknown } | undefined)?.path);
    if (route === undefined || request.user === undefined || NOT_READ.has(response.statusCode)) return;
    if (route.feed !== 'digest') items.inc({ feed: route.feed }, sentOf(response).budget.items);
    if (actingCallerOf(request) !== undefined || request.method === 'HEAD') return;
    if (route.feed === 'digest' && !response.writableFinished) return;
    notes.note(callOf(route, request, response));
  };
}

/**
 * What the log reports of a request in addition to its path: the user; as `by`, the user who acts on behalf of that
 * user, if any; and for a page, the number of items and the window. It contains no passwords.
 */
export function aboutRequest(request: Request, response: Response): AboutRequest {
  if (request.user === undefined) return {};
  const by = actingCallerOf(request)?.username;
  const who = { user: callerOf(request).username, ...(by !== undefined && { by }) };
  const { budget, window } = sentOf(response);
  if (window === undefined) return who;
  const from = window.from?.toISOString();
  return { ...who, items: budget.items, ...(from && { from }), to: window.to.toISOString() };
}

function callOf({ kind, feed, isChannel }: Route, request: Request, response: Response): Call {
  const { org, app, service, channel, kind: named } = request.params as Record<string, string>;
  const { from, to, lastoffsetid, bucket } = request.query;
  const { budget, window } = sentOf(response);
  const asked = { from: dateOf(from), to: dateOf(to), isFirst: (lastoffsetid ?? '') === '' };
  const { isFirst, ...bounds } = window ?? asked;
  return {
    key: {
      organizationid: org!,
      appid: app!,
      username: callerOf(request).username,
      kind: kind ?? named!,
      service: isChannel ? `channel:${channel}` : (service ?? EVERY_SERVICE),
    },
    feed,
    at: new Date(),
    status: response.headersSent || window !== undefined ? response.statusCode : undefined,
    problem: answeredProblem(response)?.slug,
    window: bounds.to && { from: bounds.from, to: bounds.to },
    isFirst,
    isFull: budget.goesOn || response.hasHeader('Link'),
    isWhole: response.writableFinished,
    items: budget.items,
    ...(feed === 'digest' && { isListing: bucket !== undefined }),
  };
}

function dateOf(text: unknown): Date | undefined {
  const parsed = typeof text === 'string' ? parseDate(text) : undefined;
  return parsed !== undefined && 'value' in parsed ? parsed.value : undefined;
}

function routeOf(pattern: unknown): Route | undefined {
  if (typeof pattern !== 'string') return undefined;
  if (!routes.has(pattern)) {
    const [, what, feed] = FEED_PATH.exec(pattern) ?? [];
    const isChannel = what === 'productbychannel';
    const kind = isChannel ? CHANNEL_KIND : BUILT_IN_KINDS.find((one) => one === what);
    const route = { kind, feed: feed as Call['feed'], isChannel };
    routes.set(pattern, what === undefined ? undefined : route);
  }
  return routes.get(pattern);
}
