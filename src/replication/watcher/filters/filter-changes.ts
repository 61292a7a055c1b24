import { EventEmitter, once } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { MOST_SERVICES, type ServiceKey } from '../../../application/index.js';
import { count, forAtMost } from '../../../platform/common/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import { isObjectId, type Tenant } from '../../../record/index.js';
import type { AppShare } from '../../protocol/index.js';
import { asLongAsAlive, type TermAtWork, FilterVersions } from '../../store/index.js';
import { ServicesInTurn, serviceName, tenantName, WantedServices } from './wanted-services.js';
import { FilterReconciler, serviceInWords, type StampedVersion } from './filter-reconciler.js';
import { type Judged, KnownToTerm } from './registered-services.js';

/** The stream waits for at most this many services of a batch, and for no application with more in the batch. */
const IN_STREAM = 20;
/** Number of services that are read at once. Each filter may have 64 KiB. */
const AT_ONCE = 100;
/** Longest wait for a service to be checked or stamped, before the queue is read again (milliseconds). */
const LONGEST_REST_MS = 10_000;
/** Longest time without a sign of life (milliseconds). To find and judge a range of records may take 22 s. */
const LONGEST_SILENCE_MS = 30_000;
const EDITED = 'edited';
const WAITING = 'waiting';

/**
 * Applies the changes of `services`, on the leader. If the events of a batch name what has changed, it reads only that.
 * The stream waits for a few services of a batch. The others are processed beside it, one of each application in turn.
 * A service that changes again before its turn is processed once, in its latest state.
 */
@Injectable()
export class FilterChanges {
  private readonly log = new Logger('Filters');
  /** Separate for each term: an abandoned term may still be running here, and must not take anything from the next one. */
  private readonly terms = new WeakMap<TermAtWork, KnownToTerm>();
  private readonly changes = new EventEmitter();
  private readonly longestSilenceMs = LONGEST_SILENCE_MS;

  constructor(
    private readonly wanted: WantedServices,
    private readonly entries: FilterVersions,
    private readonly reconciler: FilterReconciler,
    private readonly metrics: Metrics,
  ) {}

  /** Checks all services, and returns when all are done. */
  async checkAll(term: TermAtWork): Promise<void> {
    const found = await this.findAll(term);
    while (!found.isEmpty) await this.reconcile(this.knownTo(term), found.take(AT_ONCE), term);
  }

  /**
   * Checks the services that these documents name or named before, and those of the applications with a new hash key
   * (`rekeyed`); all services if the documents are unknown. The call itself checks only a few, so that a single edit
   * takes effect at its place in the log. The others wait, as do all services of an application that has many. A few
   * failed services of the same applications are checked too, because the change may have removed the cause.
   */
  async check(ids: mongo.ObjectId[] | undefined, term: TermAtWork, rekeyed: Tenant[] = []): Promise<void> {
    const found = ids === undefined ? await this.findAll(term) : new ServicesInTurn();
    const known = this.knownTo(term);
    const some: ServiceKey[] = [];
    try {
      const near = ids === undefined ? [] : await this.find(ids, found, term);
      for (const key of rekeyed.flatMap((application) => known.registered.within(application)))
        found.add(key);
      some.push(...found.take(IN_STREAM, found.crowded(IN_STREAM)));
      const taken = new Set(some.map(serviceName));
      for (const key of near) if (!taken.has(serviceName(key))) found.add(key);
      some.push(...found.take(IN_STREAM - some.length, found.crowded(IN_STREAM)));
      this.leaveWaiting(known, found);
      if (some.length > 0) await this.reconcile(known, some, term);
    } catch (error) {
      // The event may be retried, and what its documents named before is no longer known then.
      for (const key of some) found.add(key);
      this.leaveWaiting(known, found);
      throw error;
    }
  }

  /**
   * Checks the next waiting services, beside the stream. From time to time it also checks those that failed, and those that
   * a superseded leader has changed late, which only a read of all versions can detect. If no service is waiting, it
   * returns once one is, or after some seconds.
   */
  async checkNext(term: TermAtWork, stop: AbortSignal): Promise<void> {
    const known = this.knownTo(term);
    if (performance.now() >= known.againAt) await this.findOverlooked(known, stop);
    const keys = known.waiting.take(AT_ONCE);
    if (keys.length === 0) return this.rest(WAITING, LONGEST_REST_MS, stop);
    try {
      await asLongAsAlive(stop, this.longestSilenceMs, (life) => this.reconcile(known, keys, life));
    } catch (error) {
      for (const key of keys) known.waiting.add(key);
      throw error;
    }
  }

  /**
   * Stamps the records of the next edited service of a share. Then one write ends the stamping and applies the latest
   * document of the service, which may have been edited meanwhile. If no service waits, or only services of
   * applications that are in progress, it returns when one may be available, or after some seconds. Returns false on
   * failure, so that a failing service does not delay others. The service is tried again after a pause if the failure
   * is not specific to it, otherwise with the next read of all versions.
   */
  async stampNext(term: TermAtWork, stop: AbortSignal, share: AppShare): Promise<boolean> {
    const { edited } = this.knownTo(term);
    const key = edited.take(share);
    if (key === undefined) {
      await this.rest(EDITED, edited.restMs(LONGEST_REST_MS), stop);
      return true;
    }
    let isDone = false;
    try {
      isDone = await this.stamp(key, term, stop);
      edited.end(key);
    } catch (error) {
      edited.endFailed(key);
      if (!stop.aborted)
        this.log.error({ err: error }, `${serviceInWords(key)} could not be stamped and is tried again soon`);
    } finally {
      if (!isDone) {
        this.knownTo(term).versions.delete(serviceName(key));
        if (!stop.aborted) void this.entries.countFailure(key).catch(() => undefined);
      }
      this.changes.emit(EDITED);
    }
    return isDone;
  }

  /** Called when the term is over. Resets the metric, because the next leader counts the services beyond the limits. */
  leave(): void {
    this.metrics.servicesBeyondLimits.set(0);
  }

  private async rest(event: string, ms: number, stop: AbortSignal): Promise<void> {
    await forAtMost(ms, stop, (signal) => once(this.changes, event, { signal })).catch(() => undefined);
  }

  private leaveWaiting({ waiting }: KnownToTerm, found: ServicesInTurn): void {
    for (const key of found.take(Infinity)) waiting.add(key);
    this.changes.emit(WAITING);
  }

  private async findOverlooked(known: KnownToTerm, stop: AbortSignal): Promise<void> {
    known.readAgainLater();
    for (const key of this.reconciler.failed()) known.waiting.add(key);
    const lost = new Map<string, ServiceKey>();
    for (const key of known.registered.services()) {
      const version = known.versions.get(serviceName(key));
      // A failed service may have no version, and only a limited number of failed services is remembered.
      if (version === undefined) known.waiting.add(key);
      else if (version > 0) lost.set(serviceName(key), key);
    }
    await asLongAsAlive(stop, this.longestSilenceMs, async (life) => {
      for await (const some of this.entries.versions()) {
        for (const { version, ...key } of some) {
          lost.delete(serviceName(key));
          if (known.versions.get(serviceName(key)) !== version) known.waiting.add(key);
        }
        life.showLife();
      }
      for (const key of lost.values()) known.waiting.add(key);
    });
  }

  /**
   * Does not call `showLife` of the term, so that a hanging stream is detected even during a long stamping. Returns
   * false on failure.
   */
  private stamp(key: ServiceKey, term: TermAtWork, stop: AbortSignal): Promise<boolean> {
    return asLongAsAlive(stop, this.longestSilenceMs, async (life) => {
      const stamped = await this.reconciler.stamp(key, { term: life, stop: life.signal });
      if (stamped !== false) await this.reconcile(this.knownTo(term), [key], life, stamped);
      return stamped !== false;
    });
  }

  /**
   * Checks of the same service run one after the other. If an edit finds its service pending, the check that ends the
   * stamping comes later and reads that edit.
   */
  private async reconcile(
    known: KnownToTerm,
    keys: ServiceKey[],
    term: TermAtWork,
    stamped?: StampedVersion,
  ): Promise<void> {
    const { versions, edited, checks } = known;
    const names = keys.map(serviceName);
    const check = async () => {
      const beyond = new Set(keys.filter((key) => known.judged.isBeyond(key)).map(serviceName));
      const reconciled = await this.reconciler.reconcile(keys, { beyond, stamped }, term);
      for (const { key, version, isPending } of reconciled) {
        if (version === undefined) versions.delete(serviceName(key));
        else versions.set(serviceName(key), version);
        if (isPending) edited.add(key);
      }
      if (reconciled.some(({ isPending }) => isPending)) this.changes.emit(EDITED);
      term.showLife();
    };
    const checked = Promise.all(names.flatMap((name) => checks.get(name) ?? [])).then(check);
    const ended = checked.catch(() => undefined);
    for (const name of names) checks.set(name, ended);
    try {
      await checked;
    } finally {
      for (const name of names) if (checks.get(name) === ended) checks.delete(name);
    }
  }

  /**
   * Returns all services. Waiting services keep their places, so that the last ones have their turn even if this is called
   * often.
   */
  private async findAll(term: TermAtWork): Promise<ServicesInTurn> {
    const { waiting, edited, checks, judged } = this.knownTo(term);
    const known = Object.assign(new KnownToTerm(waiting, edited, checks), { judged });
    this.terms.set(term.whole ?? term, known);
    const found = new ServicesInTurn();
    for await (const some of this.entries.versions()) {
      for (const { version: _version, ...key } of some) found.add(key);
      term.showLife();
    }
    for await (const some of this.wanted.named()) {
      for (const document of some) {
        known.registered.learn(document);
        if (document.key !== undefined) found.add(document.key);
      }
      term.showLife();
    }
    for (const key of this.judge(known)) found.add(key);
    known.judged = known.registered;
    return found;
  }

  /** Adds the services that these documents name or named. Returns other services of their applications to be checked. */
  private async find(ids: mongo.ObjectId[], found: ServicesInTurn, term: TermAtWork): Promise<ServiceKey[]> {
    const known = this.knownTo(term);
    const { registered } = known;
    const tenants = new Set<string>();
    const add = (key: ServiceKey) => {
      found.add(key);
      tenants.add(tenantName(key));
    };
    const gone = new Map(ids.map((id) => [id.toHexString(), id]));
    for (const id of gone.values()) {
      const before = registered.named(id);
      if (before !== undefined) add(before);
    }
    for await (const some of this.wanted.named([...gone.values()])) {
      for (const document of some) {
        registered.learn(document);
        if (document.key !== undefined) add(document.key);
        if (isObjectId(document._id)) gone.delete(document._id.toHexString());
      }
      term.showLife();
    }
    for (const id of gone.values()) registered.forget(id);
    const failed = this.reconciler.failed().filter((key) => tenants.has(tenantName(key)));
    return [...this.judge(known), ...failed.slice(0, IN_STREAM)];
  }

  /** Returns the services that moved beyond the limits of their application, or back within them. */
  private judge({ registered }: KnownToTerm): ServiceKey[] {
    const judged = registered.judge();
    for (const one of judged) this.logLimits(one);
    this.metrics.servicesBeyondLimits.set(registered.beyond);
    return judged.flatMap(({ moved }) => moved);
  }

  private logLimits({ organizationid, appid, beyond, before }: Judged): void {
    const application = `${organizationid}/${appid}`;
    if (before === 0)
      this.log.warn(
        `${application} has more services than are allowed (${count(MOST_SERVICES)}, or 4 MiB together): ` +
          'the feeds of those beyond the limits answer 500 service-misconfigured; admin status names them',
      );
    else if (beyond === 0) this.log.log(`The services of ${application} are within the limits again`);
  }

  private knownTo(term: TermAtWork): KnownToTerm {
    const of = term.whole ?? term;
    const known = this.terms.get(of) ?? new KnownToTerm();
    this.terms.set(of, known);
    return known;
  }
}
