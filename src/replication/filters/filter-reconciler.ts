import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import { type Connection, type Model, mongo } from 'mongoose';
import { isNamed, SERVICE_MODEL, type ServiceKey, type StoredService } from '../../application/index.js';
import { DeadlineError, within as endsWithin } from '../../common/index.js';
import { databaseProblem, isDuplicateKey, isRefusedQuery, isTimeout, isUnfit } from '../../database/index.js';
import { COLLECTION_OF, FIRST_ID } from '../../record/index.js';
import { type TermAtWork, TermOverError } from '../progress/index.js';
import { Restamps } from '../stamping/index.js';
import { inStretch, nextStretch, STRETCH_MS, walk } from '../walk/index.js';
import { filterAt, nameAt } from './bounded.js';
import {
  type FilterVersionChange,
  judgedDifferently,
  reconciled,
  type WantedFilter,
  wantedOf,
} from './filter-version.js';
import { FilterVersions, type ReadVersion } from './filter-versions.js';

const AT_ONCE = 1000;
const MOST_ROUNDS = 5;
/** A stretch has its own end on the server, which looks at it between two texts: a regular expression on one is not cut off. */
const SPARE_MS = 2000;
/** The end of a term ends the walk by an error. */
const NEVER = new AbortController().signal;
/** Whatever else stands in place of a field costs nothing, and asks for nothing. */
const WISH = {
  ...{ _id: 0, organizationid: nameAt('$organizationid'), appid: nameAt('$appid') },
  ...{ kind: nameAt('$kind'), name: nameAt('$name'), filter: filterAt('$filter') },
  enabled: { $eq: [{ $ifNull: ['$enabled', true] }, true] },
};

type WantedService = ServiceKey & Pick<StoredService, 'filter' | 'enabled'>;

/**
 * Rule 5: brings `services` into force in one place, and stamps anew what the old and the new filter judge differently.
 * What goes wrong with one service makes that one invalid, and concerns no other.
 */
@Injectable()
export class FilterReconciler {
  private readonly log = new Logger('Filters');
  /** Services that are in trouble and told of: each is told of once. */
  private readonly told = new Set<string>();
  /** Milliseconds that MongoDB has to judge a stretch of records by two filters. */
  private readonly judgingMs = STRETCH_MS;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(SERVICE_MODEL) private readonly services: Model<StoredService>,
    private readonly entries: FilterVersions,
    private readonly restamps: Restamps,
  ) {}

  /** Looks at all services. Where somebody else was quicker to change an entry, it is looked at again. */
  async reconcile(term: TermAtWork): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      if (await this.round(term)) return;
    }
    this.log.warn(
      'The filters are being changed by somebody else at the same time; they are looked at again soon',
    );
  }

  /**
   * What is in force is read before what is wanted: the other way round an older wish could win. A service whose stamping
   * cannot be finished stays as it is until it can: another change would hide what is still to be stamped.
   */
  private async round(term: TermAtWork): Promise<boolean> {
    const entries = new Map((await this.entries.all()).map((entry) => [keyOf(entry), entry]));
    const unfinished = new Set<string>();
    for (const [key, entry] of entries)
      if (entry.pending && !(await this.finish(entry, term))) unfinished.add(key);
    const wishes = new Map((await this.wishes()).map((wish) => [keyOf(wish), wish]));
    let undisturbed = true;
    for (const key of new Set([...entries.keys(), ...wishes.keys()])) {
      if (unfinished.has(key)) continue;
      if (!(await this.bring(entries.get(key), wishes.get(key), term))) undisturbed = false;
    }
    return undisturbed;
  }

  /** False where somebody else was quicker. */
  private async bring(
    entry: ReadVersion | undefined,
    wish: WantedService | undefined,
    term: TermAtWork,
  ): Promise<boolean> {
    const { organizationid, appid, kind, name } = (wish ?? entry)!;
    const service = { organizationid, appid, kind, name };
    let undisturbed = true;
    let written: ReadVersion | undefined;
    await this.alone(service, entry, async () => {
      const change = await this.changeOf(entry, wish);
      if (change === undefined) return;
      written = await this.entries.write(service, entry, change);
      undisturbed = written !== undefined;
    });
    if (written?.pending === true) await this.finish(written, term);
    return undisturbed;
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
    const key = keyOf(service);
    try {
      await work();
      this.told.delete(key);
      return true;
    } catch (error) {
      if (isElsewhere(error)) throw error;
      if (!this.told.has(key))
        this.log.error(
          { err: error },
          `${nameOf(service)} cannot be brought into force, and is invalid until it can`,
        );
      this.told.add(key);
      await this.entries.invalidate(service, entry).catch((again: unknown) => {
        if (isElsewhere(again)) throw again;
      });
      return false;
    }
  }

  private async wishes(): Promise<WantedService[]> {
    const services = this.services.collection.find<StoredService>({}, { projection: WISH });
    return (await services.toArray()).filter(isNamed);
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

  /** Stamps anew what the filters judge differently, then clears `pending` in the same version. False where it failed. */
  private finish(entry: ReadVersion, term: TermAtWork): Promise<boolean> {
    return this.alone(entry, entry, async () => {
      const count = await this.restamp(entry, term);
      await this.entries.settle(entry);
      this.log.log(
        `${nameOf(entry)} is in force with its filter, version ${entry.version}: ${count} records stamped anew`,
      );
    });
  }

  /**
   * Everything of the application and kind where one of the filters cannot be read, MongoDB refuses one, or cannot end its
   * work on a single record: all others wait behind this one.
   */
  private async restamp(entry: ReadVersion, term: TermAtWork): Promise<number> {
    const { organizationid, appid, kind, name, filter, previous } = entry;
    const service = { organizationid, appid, name };
    let differing = filter && previous && judgedDifferently(filter, previous);
    let count = 0;
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
        for (let first = 0; first < ids.length; first += AT_ONCE)
          await this.restamps.records(kind, ids.slice(first, first + AT_ONCE), 'filter', term, service);
        count += ids.length;
      },
      advance: () => Promise.resolve(),
      leave: (_stretch, error) => Promise.reject(error),
      stop: NEVER,
      term,
    });
    return count;
  }

  /** No index is stated: after a drop it is missing until the watcher comes to that, which it could not if this failed. */
  private async idsOf(collection: mongo.Collection, query: mongo.Document): Promise<mongo.ObjectId[]> {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, maxTimeMS: this.judgingMs } as const;
    const asked = collection.find<{ _id: mongo.ObjectId }>(query, options).toArray();
    const found = await endsWithin(this.judgingMs + SPARE_MS, 'Judging records', asked);
    return found.map(({ _id }) => _id);
  }
}

function keyOf({ organizationid, appid, kind, name }: ServiceKey): string {
  return JSON.stringify([organizationid, appid, kind, name]);
}

function nameOf({ organizationid, appid, kind, name }: ServiceKey): string {
  return `The ${kind} service "${name}" of ${organizationid}/${appid}`;
}

/** Whether the term is over, or the database away: nothing was said about what was asked. */
function isOfDatabase(error: unknown): boolean {
  return error instanceof TermOverError || databaseProblem(error) !== undefined;
}

/**
 * Whether an error says nothing about the service that is being looked at. Of what the server refuses only queries that
 * make no sense and writes that do not fit are about it; anything else it would refuse for every service.
 */
function isElsewhere(error: unknown): boolean {
  if (isOfDatabase(error)) return true;
  const isAboutIt = isRefusedQuery(error) || isUnfit(error) || isDuplicateKey(error);
  return error instanceof mongo.MongoServerError && !isAboutIt;
}
