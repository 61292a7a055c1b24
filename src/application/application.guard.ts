import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Request } from 'express';
import type { Model, mongo } from 'mongoose';
import { accessOf, callerOf, covers } from '../auth/index.js';
import { exactly, NAME, SharedReads } from '../common/index.js';
import { ControlStream, KnownDocuments } from '../control/index.js';
import { problems } from '../http/index.js';
import type { Tenant } from '../record/index.js';
import type { Application } from './application.js';
import { APPLICATION_MODEL } from './application.schema.js';

type StoredApplication = Application & { _id: unknown };
type InApplication = Request & { application?: Application };

/** 404 with one and the same body where the application does not exist and where the credential does not cover it. */
@Injectable()
export class ApplicationGuard implements CanActivate {
  private readonly reads = new SharedReads<StoredApplication | null>();
  private readonly known: KnownDocuments<StoredApplication>;

  constructor(
    @InjectModel(APPLICATION_MODEL) private readonly applications: Model<Application>,
    private readonly control: ControlStream,
  ) {
    this.known = new KnownDocuments(control, applications.collection.collectionName);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { isPublic, isAbove } = accessOf(context);
    if (isPublic || isAbove) return true;
    const request = context.switchToHttp().getRequest<InApplication>();
    const { org, app } = request.params;
    const application = await this.find(request, String(org), String(app));
    if (application === null) throw problems.unknownApplication();
    request.application = application;
    return true;
  }

  private async find(request: Request, organizationid: string, appid: string): Promise<Application | null> {
    if (!NAME.test(organizationid) || !NAME.test(appid)) return null;
    if (!covers(callerOf(request).scopes, organizationid, appid)) return null;
    const name = `${organizationid}/${appid}`;
    return this.known.find(name, () =>
      this.reads.share(name, () =>
        this.control.read((options) => this.read({ organizationid, appid }, options)),
      ),
    );
  }

  private read(
    { organizationid, appid }: Tenant,
    options: mongo.FindOptions,
  ): Promise<StoredApplication | null> {
    return this.applications.collection.findOne<StoredApplication>(
      { organizationid: exactly(organizationid), appid: exactly(appid) },
      options,
    );
  }
}

/** The application that the path names, in a handler behind the guard. */
export const CurrentApplication = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<InApplication>().application,
);
