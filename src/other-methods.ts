import type { INestApplication } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import type { Request, Response } from 'express';
import { AboveApplications, Needs } from './auth/index.js';
import { type OtherMethodHandler, problems } from './http/index.js';

/** Nothing but the guards; what they throw becomes an answer where everything else does. */
const GUARDS = { guards: true, interceptors: false, filters: false };
const NOTHING_ELSE = [undefined, undefined, undefined, undefined] as const;

type Passing = (request: Request, response: Response) => Promise<void>;

/** What the guards of paths look at; there is nothing behind them. */
class Behind {
  inApplications(this: void): void {}

  @AboveApplications()
  @Needs('admin')
  inAdministration(this: void): void {}
}

/**
 * Answers 405 where a path exists and the method does not. Where the path needs credentials, whoever has none learns
 * nothing but that: 401, 404 for the application and 403 come first (contract §3).
 */
export function refuseOtherMethods(app: INestApplication): OtherMethodHandler {
  const contexts = app.get(ExternalContextCreator);
  const behind = new Behind();
  const passing = (name: keyof Behind) =>
    contexts.create(behind, behind[name], name, ...NOTHING_ELSE, GUARDS) as Passing;
  const passApplications = passing('inApplications');
  const passAdministration = passing('inAdministration');
  return async ({ request, response }, { pattern, methods }) => {
    if (pattern.startsWith('/:org/')) await passApplications(request, response);
    if (pattern.startsWith('/admin/')) await passAdministration(request, response);
    throw problems.methodNotAllowed(methods.join(', '));
  };
}
