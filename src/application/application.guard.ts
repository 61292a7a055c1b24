import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  Module,
} from '@nestjs/common';
import { InjectModel, MongooseModule } from '@nestjs/mongoose';
import { ApiBasicAuth, ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Model, mongo } from 'mongoose';
import { accessOf, callerOf, covers, type Credential } from '../auth/index.js';
import { exactly, NAME, NAME_SCHEMA } from '../platform/common/index.js';
import { ControlStream, KnownDocuments, ControlModule } from '../platform/control/index.js';
import { problems } from '../platform/http/index.js';
import { documentOf, type Tenant } from '../record/index.js';
import { type Application, APPLICATION_MODEL, applicationModels } from './plain.js';

type StoredApplication = Application & { _id: unknown };

/** Looks up applications in this instance's cache, or in the database. */
@Injectable()
export class ApplicationLookup {
  private readonly known: KnownDocuments<StoredApplication>;

  constructor(
    @InjectModel(APPLICATION_MODEL) private readonly applications: Model<Application>,
    control: ControlStream,
  ) {
    this.known = new KnownDocuments(control, applications.collection.collectionName);
  }

  /** The application; null if there is none with this name, or if the scopes of the credential do not cover it. */
  async find({ scopes }: Pick<Credential, 'scopes'>, tenant: Tenant): Promise<Application | null> {
    const { organizationid, appid } = tenant;
    if (!NAME.test(organizationid) || !NAME.test(appid)) return null;
    if (!covers(scopes, organizationid, appid)) return null;
    const name = `${organizationid}/${appid}`;
    return this.known.findShared(name, (options) => this.read(tenant, options));
  }

  private async read(
    { organizationid, appid }: Tenant,
    options: mongo.FindOptions,
  ): Promise<StoredApplication | null> {
    const which = { organizationid: exactly(organizationid), appid: exactly(appid) };
    const found = await this.applications.collection.findOne(which, { ...options, raw: true });
    return found && documentOf<StoredApplication>(found);
  }
}

type RequestInApplication = Request & { application?: Application };

/** Answers 404, with an identical body, if the application does not exist or the credential does not cover it. */
@Injectable()
export class ApplicationGuard implements CanActivate {
  constructor(private readonly applications: ApplicationLookup) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { isPublic, isAbove } = accessOf(context);
    if (isPublic || isAbove) return true;
    const request = context.switchToHttp().getRequest<RequestInApplication>();
    const { org, app } = request.params;
    const tenant = { organizationid: String(org), appid: String(app) };
    const application = await this.applications.find(callerOf(request), tenant);
    if (application === null) throw problems.unknownApplication();
    request.application = application;
    return true;
  }
}

/** The application of a request that has passed the guard. */
export function applicationOf({ application }: RequestInApplication): Tenant | undefined {
  return application && { organizationid: application.organizationid, appid: application.appid };
}

/** The application of the path, in a handler after the guard. */
export const CurrentApplication = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<RequestInApplication>().application,
);

/** Describes the path parameters that name an application. */
export const NamesApplication = () =>
  applyDecorators(
    ApiParam({
      name: 'org',
      description: 'Identifier of the organization',
      schema: { ...NAME_SCHEMA, example: 'acme' },
    }),
    ApiParam({
      name: 'app',
      description: 'Identifier of the application',
      schema: { ...NAME_SCHEMA, example: 'webshop' },
    }),
  );

/** Describes the path parameters and the authentication of all routes within an application. */
export const InApplication = () => applyDecorators(ApiBasicAuth(), NamesApplication());

@Module({
  imports: [ControlModule, MongooseModule.forFeature(applicationModels)],
  providers: [ApplicationLookup],
  exports: [ApplicationLookup, MongooseModule],
})
export class ApplicationModule {}
