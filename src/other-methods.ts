import type { INestApplication } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import type { Request, Response } from 'express';
import { AboveApplications, Needs } from './auth/index.js';
import { answerProblem, type OtherMethodHandler, problems } from './http/index.js';

/** The guards know what they look at by its place: the request comes first, then its answer. */
type Refusal = (request: Request, response: Response, methods: string[]) => Promise<unknown>;

/** Stands where a handler would, so that the guards come first. */
class OtherMethods {
  inApplication(...args: unknown[]): never {
    throw problems.methodNotAllowed(args[2] as string[]);
  }

  @AboveApplications()
  @Needs('admin')
  inAdministration(...args: unknown[]): never {
    throw problems.methodNotAllowed(args[2] as string[]);
  }
}

/**
 * Answers 405 where a path exists and the method does not. Where the path needs credentials, whoever has none learns
 * nothing but that: 401, 404 for the application and 403 come first (contract §3).
 */
export function refuseOtherMethods(app: INestApplication): OtherMethodHandler {
  const contexts = app.get(ExternalContextCreator);
  const refusals = new OtherMethods();
  const guarded = (name: keyof OtherMethods): Refusal =>
    contexts.create(refusals, refusals[name], name);
  const inApplication = guarded('inApplication');
  const inAdministration = guarded('inAdministration');
  return ({ request, response }, { pattern, methods }) => {
    if (pattern.startsWith('/:org/')) return inApplication(request, response, methods);
    if (pattern.startsWith('/admin/')) return inAdministration(request, response, methods);
    return answerProblem(request, response, problems.methodNotAllowed(methods));
  };
}
