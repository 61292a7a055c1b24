import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import type { ServiceKey } from '../../application/index.js';
import { DeadlineError, within as endsWithin } from '../../common/index.js';
import { isRefusedQuery, isTimeout } from '../../database/index.js';
import { COLLECTION_OF, FIRST_ID, RecordsHeldError } from '../../record/index.js';
import type { TermAtWork } from '../progress/index.js';
import { type Restamped, Restamps } from '../stamping/index.js';
import { inStretch, nextStretch, STRETCH_MS, walk } from '../walk/index.js';
import { isElsewhere, isOfDatabase } from './elsewhere.js';
import {
  type FilterVersionChange,
  judgedDifferently,
  reconciled,
  type WantedFilter,
  wantedOf,
} from './filter-version.js';
import { FilterVersions, type ReadVersion } from './filter-versions.js';
import { serviceName } from './services-in-turn.js';
import { WantedServices, type WantedService } from './wanted-services.js';

/** So many services are looked at side by side. */
const SIDE_BY_SIDE = 5;
const MOST_ROUNDS = 5;
/** A stretch has its own end on the server, which looks at it between two texts: a regular expression on one is not cut off. */
const SPARE_MS = 2000;
/** The end of a term ends the walk by an error. */
const NEVER = new AbortController().signal;

/** A service that was looked at, and the version that it has. */
export interface Reconciled {
  key: ServiceKey;
  version: number;
}

/**
 * Rule 5: brings `services` into force in one place, and stamps anew what the old and the new filter judge differently.
 * What goes wrong with one service makes that one invalid, and concerns no other.
 */
@Injectable()
export class FilterReconciler {
  private readonly log = new Logger('Filters');
  /** Services that are in trouble and told of: each is told of once. */
  private readonly told = new Map<string, ServiceKey>();
  /** Milliseconds that MongoDB has to judge a stretch of records by two filters. */
  private readonly judgingMs = STRETCH_MS;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly wanted: WantedServices,
    private readonly entries: FilterVersions,
    private readonly restamps: Restamps,
  ) {}

  /** Services that could not be brought into force, or whose records could not be stamped: to be looked at again. */
  failed(): ServiceKey[] {
    return [...this.told.values()];
  }

  /** Looks at some services. Where somebody else was quicker to change an entry, it is looked at again. */
  async reconcile(keys: ServiceKey[], term: TermAtWork): Promise<Reconciled[]> {
    const done: Reconciled[] = [];
    let left = keys;
    for (let round = 0; round < MOST_ROUNDS && left.length > 0; round += 1)
      left = await this.round(left, done, term);
    if (left.length > 0)
      this.log.warn(
        'The filters are being changed by somebody else at the same time; they are looked at again soon',
      );
    return done;
  }

  /**
   * What is in force is read before what is wanted: the other way round an older wish could win. A service whose stamping
   * cannot be finished stays as it is until it can: another change would hide what is still to be stamped. Answers those
   * that somebody else was quicker to change.
   */
  private async round(keys: ServiceKey[], done: Reconciled[], term: TermAtWork): Promise<ServiceKey[]> {
    const entries = new Map((await this.entries.of(keys)).map((entry) => [serviceName(entry), entry]));
    const unfinished = new Set<string>();
    for (const [name, entry] of entries)
      if (entry.pending && !(await this.finish(entry, term))) unfinished.add(name);
    const wishes = new Map((await this.wanted.wishes(keys)).map((wish) => [serviceName(wish), wish]));
    const disturbed: ServiceKey[] = [];
    const open = keys.filter((key) => !unfinished.has(serviceName(key)));
    for (let first = 0; first < open.length; first += SIDE_BY_SIDE) {
      const some = open.slice(first, first + SIDE_BY_SIDE);
      const bringing = some.map((key) => {
        const name = serviceName(key);
        return this.bring(key, entries.get(name), wishes.get(name));
      });
      // Where one fails, the others have ended before that is told.
      await Promise.allSettled(bringing);
      term.showLife();
      for (const { key, version, written } of await Promise.all(bringing)) {
        if (version === undefined) disturbed.push(key);
        else done.push({ key, version });
        if (written?.pending === true) await this.finish(written, term);
      }
    }
    return disturbed;
  }

  /** Writes down what is wished for; without a version where somebody else was quicker. */
  private async bring(
    key: ServiceKey,
    entry: ReadVersion | undefined,
    wish: WantedService | undefined,
  ): Promise<{ key: ServiceKey; version: number | undefined; written?: ReadVersion | undefined }> {
    let brought: { version: number | undefined; written?: ReadVersion | undefined } = {
      version: entry?.version ?? 0,
    };
    await this.alone(key, entry, async () => {
      const change = await this.changeOf(entry, wish);
      if (change === undefined) return;
      const written = await this.entries.write(key, entry, change);
      brought = { version: written?.version, written };
    });
    return { key, ...brought };
  }

  /**
   * Does something for one service; false where it failed for what this service or its records are: it becomes invalid,
   * so that its consumers wait instead of missing something. What says nothing about it, such as a right that is missing,
   * is thrown on, and the watcher tries again.
   */
  private async alone(
    service: ServiceKey,
    entry: ReadVersion | undefined,
    work: () => Promise<void>,
  ): Promise<boolean> {
    const key = serviceName(service);
    try {
      await work();
      this.told.delete(key);
      return true;
    } catch (error) {
      if (isElsewhere(error)) throw error;
      const isHeld = error instanceof RecordsHeldError;
      const until = isHeld ? 'its feeds wait' : 'it is invalid until it can';
      if (!this.told.has(key))
        this.log.error({ err: error }, `${nameOf(service)} cannot be brought into force: ${until}`);
      this.told.set(key, service);
      if (isHeld) return false;
      await this.entries.invalidate(service, entry).catch((again: unknown) => {
        if (isElsewhere(again)) throw again;
      });
      return false;
    }
  }

  /** A filter that MongoDB refuses is as invalid as one that contract §4 refuses. */
  private async changeOf(
    entry: ReadVersion | undefined,
    wish: WantedService | undefined,
  ): Promise<FilterVersionChange | undefined> {
    const wanted = wantedOf(wish);
    const change = reconciled(entry, wanted);
    if (change === undefined || wish === undefined || (await this.isTaken(wish, wanted))) return change;
    const invalid = reconciled(entry, { state: 'invalid' });
    if (invalid !== undefined) this.log.warn(`MongoDB refuses the filter: ${nameOf(wish)} is invalid`);
    return invalid;
  }

  /**
   * MongoDB refuses a filter when it reads it, whatever there is to be found. Where it refuses the same query without the
   * filter as well, that says nothing about the filter, and is thrown.
   */
  private async isTaken({ organizationid, appid, kind }: ServiceKey, wanted: WantedFilter): Promise<boolean> {
    if (wanted.state !== 'on') return true;
    const nothing = { organizationid, appid, _id: FIRST_ID };
    const collection = this.connection.collection(COLLECTION_OF[kind]);
    const ask = (query: mongo.Document) =>
      collection.findOne(query, { projection: { _id: 1 }, hint: { _id: 1 } });
    try {
      await ask({ $and: [nothing, wanted.filter] });
      return true;
    } catch (error) {
      if (isOfDatabase(error)) throw error;
      if (!isRefusedQuery(error)) await ask(nothing);
      return false;
    }
  }

  /** Clears `pending` in the same version once each record is stamped anew, or in quarantine. False where it failed. */
  private finish(entry: ReadVersion, term: TermAtWork): Promise<boolean> {
    return this.alone(entry, entry, async () => {
      const { stamped, setAside } = await this.restamp(entry, term);
      await this.entries.settle(entry);
      const refused = setAside === 0 ? '' : `, ${setAside} cannot be and are set aside`;
      this.log.log(
        `${nameOf(entry)} is in force with its filter, version ${entry.version}: ${stamped} records stamped anew${refused}`,
      );
    });
  }

  /**
   * Everything of the application and kind where one of the filters cannot be read, MongoDB refuses one, or cannot end its
   * work on a single record: all others wait behind this one.
   */
  private async restamp(entry: ReadVersion, term: TermAtWork): Promise<Restamped> {
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

function nameOf({ organizationid, appid, kind, name }: ServiceKey): string {
  return `The ${kind} service "${name}" of ${organizationid}/${appid}`;
}
