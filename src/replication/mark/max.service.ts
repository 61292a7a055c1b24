import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { COLLECTION_OF, DELIVERABLE, type Kind, type Tenant } from '../../record/index.js';
import { Moments } from './moments.js';

const FIRST_ID = new mongo.ObjectId('000000000000000000000000');
const NONE_YET = new Date(0);

/** How far it is safe to read. */
@Injectable()
export class MaxService {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly moments: Moments,
  ) {}

  /** The greatest stamp of the kind over records and hard deletes, never later than the database's clock (contract §1). */
  async max(tenant: Tenant, kind: Kind): Promise<Date> {
    const { clock } = await this.moments.current();
    const { organizationid, appid } = tenant;
    const ofRecord = { organizationid, appid, _id: { $gte: FIRST_ID }, $and: [DELIVERABLE] };
    const ofTombstone = { organizationid, appid, kind, alive: false };
    const stamps = await Promise.all([
      this.latest(
        COLLECTION_OF[kind],
        ofRecord,
        { organizationid: 1, appid: 1, lastupdated: 1, _id: 1 },
        clock,
      ),
      this.latest(
        'ledger',
        ofTombstone,
        { organizationid: 1, appid: 1, kind: 1, lastupdated: 1, _id: 1 },
        clock,
      ),
    ]);
    return stamps.reduce((greatest, stamp) => (stamp > greatest ? stamp : greatest));
  }

  private async latest(collection: string, of: mongo.Document, hint: mongo.Sort, clock: Date): Promise<Date> {
    const [found] = await this.connection
      .collection(collection)
      .find({ ...of, lastupdated: { $lte: clock } }, { hint: hint as mongo.Document })
      .project<{ lastupdated: Date }>({ _id: 0, lastupdated: 1 })
      .sort({ lastupdated: -1 })
      .limit(1)
      .toArray();
    return found?.lastupdated ?? NONE_YET;
  }
}
