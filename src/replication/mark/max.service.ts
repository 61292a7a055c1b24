import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import { type Connection, mongo } from 'mongoose';
import { problems } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { isMomentGone, readAsOf, type SnapshotOptions } from '../../database/index.js';
import { FIRST_ID, COLLECTION_OF, DELIVERABLE, type Kind, type Tenant } from '../../record/index.js';
import { type MarkKey, markName } from './mark.js';
import type { Moment } from './moment.js';
import { Moments } from './moments.js';
import { Raises } from './raises.js';

const NONE_YET = new Date(0);
const REMEMBERED = 10_000;

/** How far it is safe to read. */
@Injectable()
export class MaxService {
  /** The greatest stamp as of a moment: a fact about the past, by the name of the mark. */
  private readonly answers = new LRUCache<string, { at: mongo.Timestamp; greatest: Date }>({
    max: REMEMBERED,
  });

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly moments: Moments,
    private readonly raises: Raises,
  ) {}

  /**
   * The greatest stamp of the kind over records and hard deletes as of the newest moment, never later than the
   * database's clock (contract §1). A new moment is asked for only where something has a greater stamp now. Throws 503
   * `preparing`, and `not-watched` where there is no moment at all.
   */
  async max(tenant: Tenant, kind: Kind): Promise<Date> {
    const mark = { ...tenant, kind };
    const look = await this.moments.newest(mark);
    const known = look.moment && (await this.asOf(mark, look.moment));
    if (known !== undefined && !(await this.isBeaten(mark, known, look.clock)))
      return atMost(look.clock, known);
    await this.raises.passed(mark, this.settings.markWait);
    const { moment, clock } = await this.moments.newest(mark);
    const answer = moment && ((await this.asOf(mark, moment)) ?? known);
    if (answer === undefined) throw problems.notWatched();
    return atMost(clock, answer);
  }

  /** Nothing where the server does not hold the moment any more. */
  private async asOf(mark: MarkKey, { at, fence }: Moment): Promise<Date | undefined> {
    const name = markName(mark);
    const answer = this.answers.get(name);
    if (answer?.at.equals(at)) return answer.greatest;
    try {
      const client = this.connection.getClient();
      const greatest = await readAsOf(client, at, (snapshot) =>
        this.greatest(mark, { $lte: fence }, snapshot),
      );
      this.answers.set(name, { at, greatest });
      return greatest;
    } catch (error) {
      if (isMomentGone(error)) return undefined;
      throw error;
    }
  }

  private async isBeaten(mark: MarkKey, known: Date, clock: Date): Promise<boolean> {
    return (await this.greatest(mark, { $gt: known, $lte: clock })) > known;
  }

  private async greatest(mark: MarkKey, lastupdated: object, snapshot?: SnapshotOptions): Promise<Date> {
    const { organizationid, appid, kind } = mark;
    const records = { organizationid, appid, _id: { $gte: FIRST_ID }, lastupdated, $and: [DELIVERABLE] };
    const tombstones = { organizationid, appid, kind, alive: false, lastupdated };
    const along = { lastupdated: 1, _id: 1 };
    const stamps = [
      await this.latest(COLLECTION_OF[kind], records, { organizationid: 1, appid: 1, ...along }, snapshot),
      await this.latest('ledger', tombstones, { organizationid: 1, appid: 1, kind: 1, ...along }, snapshot),
    ];
    return stamps.reduce((greatest, stamp) => (stamp > greatest ? stamp : greatest));
  }

  private async latest(
    collection: string,
    query: mongo.Document,
    hint: mongo.Document,
    snapshot?: SnapshotOptions,
  ): Promise<Date> {
    const [found] = await this.connection
      .collection(collection)
      .find(query, { hint, ...snapshot, comment: 'tidemark max', maxTimeMS: this.settings.queryMs })
      .project<{ lastupdated: Date }>({ _id: 0, lastupdated: 1 })
      .sort({ lastupdated: -1 })
      .limit(1)
      .toArray();
    return found?.lastupdated ?? NONE_YET;
  }
}

/** After a fail-over to a slower clock a stamp may lie ahead of it for a while. */
function atMost(clock: Date, stamp: Date): Date {
  return stamp < clock ? stamp : clock;
}
