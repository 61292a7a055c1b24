import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { DeadlineError, within as endsWithin } from '../../common/index.js';
import { isTimeout } from '../../database/index.js';
import { COLLECTION_OF } from '../../record/index.js';
import type { TermAtWork } from '../progress/index.js';
import { type Restamped, Restamps } from '../stamping/index.js';
import { inStretch, nextStretch, STRETCH_MS, walk } from '../walk/index.js';
import { isOfDatabase } from './elsewhere.js';
import { judgedDifferently } from './filter-version.js';
import type { ReadVersion } from './filter-versions.js';

/** A stretch has its own end on the server, which looks at it between two texts: a regular expression on one is not cut off. */
const SPARE_MS = 2000;
/** The end of a term ends the walk by an error. */
const NEVER = new AbortController().signal;

/** Stamps anew the records that the filter of a service and the one before it judge differently. */
@Injectable()
export class EditedRecords {
  /** Milliseconds that MongoDB has to judge a stretch of records by two filters. */
  private readonly judgingMs = STRETCH_MS;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly restamps: Restamps,
  ) {}

  /**
   * Everything of the application and kind where one of the filters cannot be read, MongoDB refuses one, or cannot end its
   * work on a single record: all others wait behind this one.
   */
  async restamp(entry: ReadVersion, term: TermAtWork): Promise<Restamped> {
    const { organizationid, appid, kind, name, filter, previous } = entry;
    const service = { organizationid, appid, name };
    let differing = filter && previous && judgedDifferently(filter, previous);
    const done: Restamped = { stamped: 0, setAside: 0 };
    const collection = this.connection.collection(COLLECTION_OF[kind]);
    const way = { key: '_id', among: { organizationid, appid } };
    await walk(undefined, {
      next: (behind, most) => nextStretch(collection, way, { behind, most, maxTimeMS: STRETCH_MS }),
      work: async (stretch) => {
        const within = { organizationid, appid, _id: inStretch(stretch) };
        const ids = await this.idsOf(collection, { $and: [within, differing ?? {}] }).catch(
          (error: unknown) => {
            const isTooSlowAlone = isTimeout(error) && stretch.count === 1;
            const isStuck = error instanceof DeadlineError && differing !== undefined;
            if (isOfDatabase(error) && !isTooSlowAlone && !isStuck) throw error;
            term.showLife();
            if (!isTooSlowAlone) differing = undefined;
            return this.idsOf(collection, within);
          },
        );
        const { stamped, setAside } = await this.restamps.records(kind, ids, 'filter', term, service);
        done.stamped += stamped;
        done.setAside += setAside;
      },
      advance: () => Promise.resolve(),
      leave: (_stretch, error) => Promise.reject(error),
      stop: NEVER,
      term,
    });
    return done;
  }

  /** No index is stated: after a drop it is missing until the watcher comes to that, which it could not if this failed. */
  private async idsOf(collection: mongo.Collection, query: mongo.Document): Promise<mongo.ObjectId[]> {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, maxTimeMS: this.judgingMs } as const;
    const asked = collection.find<{ _id: mongo.ObjectId }>(query, options).toArray();
    const found = await endsWithin(this.judgingMs + SPARE_MS, 'Judging records', asked);
    return found.map(({ _id }) => _id);
  }
}
