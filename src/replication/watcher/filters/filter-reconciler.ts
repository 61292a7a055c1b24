import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Connection, mongo } from 'mongoose';
import {
  DEFAULT_SERVICE,
  type ServiceKey,
  shownFieldsFault,
  shownFieldsOf,
} from '../../../application/index.js';
import { atMost } from '../../../platform/common/index.js';
import { EditedRecords, type StampingTerm } from './edited-records.js';
import {
  isElsewhere,
  assertTaken,
  isTaken,
  WantedServices,
  type WantedService,
  serviceName,
  tenantName,
} from './wanted-services.js';
import {
  type FilterVersionChange,
  knownOf,
  reconciled,
  type WantedFilter,
  wantedOf,
} from '../../protocol/index.js';
import { type ReadVersion, type TermAtWork, FilterVersions, HashKeys } from '../../store/index.js';

/** Number of services that are processed concurrently. */
const SIDE_BY_SIDE = 5;
const MOST_ROUNDS = 5;
/** Maximum number of failed services that are remembered, so that each is logged once, and is checked again. */
const MOST_REMEMBERED = 1000;

/** The result for one service. */
interface Reconciled {
  key: ServiceKey;
  /** Its version; undefined if it could not be applied, or if another writer was faster. */
  version: number | undefined;
  /** Its records are still to be stamped. */
  isPending: boolean;
}

/** What the caller knows of the services. */
export interface KnownServices {
  /** The names of those that exceed the limits of their application. */
  beyond: ReadonlySet<string>;
  /** The entry whose records are stamped, with the version that they are stamped for. */
  stamped?: StampedVersion | undefined;
}

/** Includes the `_id`: an entry that is created again after a loss of the collection counts its versions from 1. */
export type StampedVersion = Pick<ReadVersion, '_id' | 'version'>;

interface Round extends KnownServices {
  done: Map<string, Reconciled>;
}

/** The version in force of a service, and the document that describes the wanted one. */
interface ReadService {
  key: ServiceKey;
  entry: ReadVersion | undefined;
  wish: WantedService | undefined;
  isBeyond: boolean;
  /** The key of the application's hashes, if the document asks for hashes. */
  hashKey: mongo.Binary | undefined;
}

interface Brought {
  key: ServiceKey;
  version?: number | undefined;
  isPending?: boolean | undefined;
  /** Another writer was faster. */
  isOutrun?: boolean;
}

/**
 * Rule 5: applies `services` in one place, and re-stamps the records that the old and the new version judge or show
 * differently. An entry is pending from the write of its filter until the last stamp; only its own feeds wait. A
 * failure makes only the service concerned invalid.
 */
@Injectable()
export class FilterReconciler {
  private readonly log = new Logger('Filters');
  /** Services that could not be applied. Each is logged once while it is in this cache. */
  private readonly refused = new LRUCache<string, ServiceKey>(atMost(MOST_REMEMBERED));

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly wanted: WantedServices,
    private readonly entries: FilterVersions,
    private readonly records: EditedRecords,
    private readonly hashKeys: HashKeys,
  ) {}

  /** Services that could not be applied, or whose records could not be stamped. They have to be checked again. */
  failed(): ServiceKey[] {
    return [...this.refused.values()];
  }

  /**
   * Applies these services, except those whose records are not yet stamped for the filter in force. An entry that another
   * leader has changed meanwhile is read again.
   */
  async reconcile(keys: ServiceKey[], known: KnownServices, term: TermAtWork): Promise<Reconciled[]> {
    const done = new Map(
      keys.map((key): [string, Reconciled] => [
        serviceName(key),
        { key, version: undefined, isPending: false },
      ]),
    );
    let left = keys;
    for (let round = 0; round < MOST_ROUNDS && left.length > 0; round += 1)
      left = await this.round(left, { ...known, done }, term);
    if (left.length > 0)
      this.log.warn('Another process changes the filters at the same time; they are checked again soon');
    return [...done.values()];
  }

  /**
   * Reads the versions in force before `services`; in the other order, an outdated document could win. A service whose
   * records are not yet stamped stays unchanged, because another change would hide which records are still to be stamped.
   * Returns the services that another writer was faster to change.
   */
  private async round(
    keys: ServiceKey[],
    { done, beyond, stamped }: Round,
    term: TermAtWork,
  ): Promise<ServiceKey[]> {
    const entries = new Map((await this.entries.of(keys)).map((entry) => [serviceName(entry), entry]));
    const isLeft = (key: ServiceKey) => {
      const entry = entries.get(serviceName(key));
      return entry?.pending === true && !isStamped(entry, stamped);
    };
    for (const key of keys.filter(isLeft)) {
      const { version } = entries.get(serviceName(key))!;
      Object.assign(done.get(serviceName(key))!, { version, isPending: true });
    }
    const open = keys.filter((key) => !isLeft(key));
    const wishes = new Map((await this.wanted.wishes(open)).map((wish) => [serviceName(wish), wish]));
    const keysOfHashes = await this.keysFor([...wishes.values()]);
    const services = open.map((key): ReadService => {
      const name = serviceName(key);
      const hashKey = keysOfHashes.get(tenantName(key));
      return { key, entry: entries.get(name), wish: wishes.get(name), isBeyond: beyond.has(name), hashKey };
    });
    const brought = await this.bringTogether(services);
    term.showLife();
    const alone = services.slice(brought.length);
    for (let first = 0; first < alone.length; first += SIDE_BY_SIDE) {
      const bringing = alone.slice(first, first + SIDE_BY_SIDE).map((service) => this.bring(service));
      // If one fails, the others end before the error is thrown.
      await Promise.allSettled(bringing);
      term.showLife();
      brought.push(...(await Promise.all(bringing)));
    }
    for (const { key, version, isPending = false } of brought)
      Object.assign(done.get(serviceName(key))!, { version, isPending });
    return brought.filter(({ isOutrun }) => isOutrun === true).map(({ key }) => key);
  }

  /**
   * Applies several services by one query for each kind and one write. Returns an empty list if any part fails, or if
   * one is pending; the caller then applies them one by one, which finds the cause.
   */
  private async bringTogether(services: ReadService[]): Promise<Brought[]> {
    if (services.length < 2 || services.some(({ entry }) => entry?.pending === true)) return [];
    const changes = services.flatMap((service) => {
      const { key, entry } = service;
      const change = reconciled(knownOf(key, entry), wantedFor(service));
      return change === undefined ? [] : [{ key, entry, change }];
    });
    try {
      await assertTaken(
        this.connection,
        changes.flatMap(({ key, change: { state, filter } }) =>
          state === 'on' && filter !== undefined ? [{ key, filter }] : [],
        ),
      );
      if (!(await this.entries.writeAll(changes))) return [];
    } catch {
      return [];
    }
    for (const { key } of services) this.refused.delete(serviceName(key));
    const changed = new Map(changes.map(({ key, change }) => [serviceName(key), change]));
    return services.map(({ key, entry }) => {
      const change = changed.get(serviceName(key));
      return { key, version: change?.version ?? entry?.version ?? 0, isPending: change?.pending };
    });
  }

  /**
   * Writes the wanted version. If it is in force already and was pending, writes that its records are stamped. The
   * result has no version on failure, or if another writer was faster.
   */
  private async bring(service: ReadService): Promise<Brought> {
    const { key, entry } = service;
    let brought: Brought = { key };
    const isDone = await this.alone(key, entry, async () => {
      const change = await this.changeOf(service);
      const written = change && (await this.entries.write(key, entry, change));
      const isKept = change === undefined && (entry?.pending !== true || (await this.entries.settle(entry)));
      const version = isKept ? (entry?.version ?? 0) : written?.version;
      brought = { key, version, isPending: written?.pending, isOutrun: version === undefined };
    });
    return isDone ? brought : { key };
  }

  /**
   * Runs `work` for one service. Returns false if it failed because of the service or its records. The service is then
   * invalid, so that consumers wait instead of missing changes. Rethrows an error that is not specific to the service,
   * such as a missing privilege: the watcher retries.
   */
  private async alone(
    service: ServiceKey,
    entry: ReadVersion | undefined,
    work: () => Promise<void>,
  ): Promise<boolean> {
    const key = serviceName(service);
    try {
      await work();
      this.refused.delete(key);
      return true;
    } catch (error) {
      if (isElsewhere(error)) throw error;
      if (!this.refused.has(key))
        this.log.error(
          { err: error },
          `${serviceInWords(service)} cannot be put into force, and is invalid until that succeeds`,
        );
      this.refused.set(key, service);
      await this.entries.invalidate(service, entry).catch((again: unknown) => {
        if (isElsewhere(again)) throw again;
      });
      return false;
    }
  }

  /** A filter that MongoDB rejects is invalid, like one that contract §4 rejects. */
  private async changeOf(service: ReadService): Promise<FilterVersionChange | undefined> {
    const { key, wish } = service;
    const wanted = wantedFor(service);
    const entry = knownOf(key, service.entry);
    const change = reconciled(entry, wanted);
    if (change === undefined || wish === undefined || (await this.isFit(wish, wanted))) return change;
    const invalid = reconciled(entry, { state: 'invalid' });
    if (invalid !== undefined)
      this.log.warn(`MongoDB refuses the filter: ${serviceInWords(wish)} is invalid`);
    return invalid;
  }

  /** The keys of the applications in which a service asks for hashes, by the name of the application. */
  private async keysFor(wishes: WantedService[]): Promise<Map<string, mongo.Binary>> {
    const asking = wishes.filter(
      (wish) => shownFieldsFault(wish) === undefined && shownFieldsOf(wish)?.hash !== undefined,
    );
    const applications = new Map(asking.map((wish) => [tenantName(wish), wish]));
    const keys = await this.hashKeys.among([...applications.values()]);
    return new Map(keys.map(({ key, ...tenant }) => [tenantName(tenant), key]));
  }

  private async isFit(wish: WantedService, wanted: WantedFilter): Promise<boolean> {
    return wanted.state !== 'on' || isTaken(this.connection, { key: wish, filter: wanted.filter });
  }

  /**
   * Re-stamps, or sets aside, each record that the current and the previous version judge or show differently. Returns
   * false on failure, the stamped version on success, and undefined if no stamps were pending.
   */
  async stamp(key: ServiceKey, during: StampingTerm): Promise<StampedVersion | undefined | false> {
    const [entry] = await this.entries.of([key]);
    if (entry?.pending !== true) return undefined;
    const isDone = await this.alone(entry, entry, async () => {
      const { stamped, setAside } = await this.records.restamp(entry, during);
      const refused = setAside === 0 ? '' : `; ${setAside} could not be stamped and are in quarantine`;
      this.log.log(
        `${serviceInWords(entry)}: ${stamped} records are stamped anew for version ${entry.version} of its filter${refused}`,
      );
    });
    return isDone && entry;
  }
}

function wantedFor({ key: { name }, wish, isBeyond, hashKey }: ReadService): WantedFilter {
  return wantedOf(wish, { isBeyond, hashKey, isDefault: name === DEFAULT_SERVICE });
}

function isStamped(entry: ReadVersion, stamped: StampedVersion | undefined): boolean {
  return stamped?._id.equals(entry._id) === true && stamped.version === entry.version;
}

/** The name of a service in the log, for the beginning of a sentence. */
export function serviceInWords({ organizationid, appid, kind, name }: ServiceKey): string {
  return `The ${kind} service "${name}" of ${organizationid}/${appid}`;
}
