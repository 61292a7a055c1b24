import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import { problems } from '../../../platform/http/index.js';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request } from 'express';
import { BUILT_IN_KINDS, describedKind, isBuiltIn, KIND_NAME, type Kind } from '../../../kinds/index.js';
import { type KindAsked, KnownKinds } from '../../store/index.js';

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
 * Refuses a path whose kind is unknown before anything else of the request is judged: 404 `unknown-kind`. A path that writes a
 * name in another way than it is, such as `%6Dember`, is no path: 404 `not-found`.
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

/** Where `/{org}/{app}/api/v1/{kind}` has the kind. */
const KIND_PLACE = 5;

/**
 * Guards the route of created kinds. The OpenAPI document has no route with a parameter: it has the paths of each created kind
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
