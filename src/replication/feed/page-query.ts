import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { SETTINGS, type Settings } from '../../config/index.js';
import type { SnapshotOptions } from '../../database/index.js';
import { READ_FOR_JSON } from '../../record/index.js';
import { entriesToCount, hintOf, planOf } from './plan.js';
import type { Selection } from './selection.js';
import { type Window, windowQuery } from './window.js';

/** Tells operators who asks, in the profiler and the slow query log. */
const COMMENT = 'tidemark feed';

/** The one place where feeds ask the database for items. */
@Injectable()
export class PageQuery {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** The documents of one page in `_id` order, at most `limit`, as of the moment of the snapshot. */
  async read(selection: Selection, window: Window, snapshot: SnapshotOptions): Promise<mongo.Document[]> {
    const plan = planOf(window, await this.count(selection, window, snapshot));
    return this.connection
      .collection(selection.collection)
      .find(pageQuery(selection, window), {
        ...READ_FOR_JSON,
        ...snapshot,
        comment: COMMENT,
        hint: hintOf(plan, selection),
        sort: { _id: 1 },
        limit: window.limit,
        batchSize: window.limit,
        allowDiskUse: true,
        maxTimeMS: this.settings.queryMs,
      })
      .toArray();
  }

  private async count(
    { collection, scope }: Selection,
    window: Window,
    snapshot: SnapshotOptions,
  ): Promise<number> {
    const limit = entriesToCount(window);
    if (limit === 0) return 0;
    return this.connection.collection(collection).countDocuments(
      { ...scope, ...windowQuery(window) },
      {
        ...snapshot,
        comment: COMMENT,
        limit,
        hint: hintOf('along-lastupdated', { collection, scope }),
        maxTimeMS: this.settings.queryMs,
      },
    );
  }
}

/** A filter combines with a window only as `$and`: no filter can widen what a page is taken from. */
export function pageQuery({ scope, filter }: Selection, window: Window): mongo.Document {
  const within = { ...scope, ...windowQuery(window) };
  return filter === undefined ? within : { $and: [within, filter] };
}
