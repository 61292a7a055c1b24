import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { covers, type Credential } from '../auth/index.js';
import { exactly, NAME, SharedReads } from '../common/index.js';
import { ControlStream, KnownDocuments } from '../control/index.js';
import type { Tenant } from '../record/index.js';
import type { Application } from './application.js';
import { APPLICATION_MODEL } from './application.schema.js';

type StoredApplication = Application & { _id: unknown };

/** Applications as this instance knows them, or as the database has them. */
@Injectable()
export class ApplicationLookup {
  private readonly reads = new SharedReads<StoredApplication | null>();
  private readonly known: KnownDocuments<StoredApplication>;

  constructor(
    @InjectModel(APPLICATION_MODEL) private readonly applications: Model<Application>,
    private readonly control: ControlStream,
  ) {
    this.known = new KnownDocuments(control, applications.collection.collectionName);
  }

  /** The application as a credential sees it: null also where its scopes do not cover it. */
  async find({ scopes }: Pick<Credential, 'scopes'>, tenant: Tenant): Promise<Application | null> {
    const { organizationid, appid } = tenant;
    if (!NAME.test(organizationid) || !NAME.test(appid)) return null;
    if (!covers(scopes, organizationid, appid)) return null;
    const name = `${organizationid}/${appid}`;
    return this.known.find(name, () =>
      this.reads.share(name, () => this.control.read((options) => this.read(tenant, options))),
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
