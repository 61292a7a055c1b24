import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { accessOf, callerOf } from '../auth/index.js';
import { problems } from '../http/index.js';
import { ApplicationLookup } from './application-lookup.js';
import type { Application } from './application.js';

type InApplication = Request & { application?: Application };

/** 404 with one and the same body where the application does not exist and where the credential does not cover it. */
@Injectable()
export class ApplicationGuard implements CanActivate {
  constructor(private readonly applications: ApplicationLookup) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { isPublic, isAbove } = accessOf(context);
    if (isPublic || isAbove) return true;
    const request = context.switchToHttp().getRequest<InApplication>();
    const { org, app } = request.params;
    const tenant = { organizationid: String(org), appid: String(app) };
    const application = await this.applications.find(callerOf(request), tenant);
    if (application === null) throw problems.unknownApplication();
    request.application = application;
    return true;
  }
}

/** The application that the path names, in a handler behind the guard. */
export const CurrentApplication = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<InApplication>().application,
);
