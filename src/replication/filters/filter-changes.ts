import { EventEmitter, once } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { MOST_SERVICES, type ServiceKey } from '../../application/index.js';
import { count, endsAfter } from '../../common/index.js';
import { Metrics } from '../../observability/index.js';
import { isObjectId } from '../../record/index.js';
import type { TermAtWork } from '../progress/index.js';
import { asLongAsAlive } from './as-long-as-alive.js';
import { EditedServices } from './edited-services.js';
import { FilterReconciler, nameOf, type StampedVersion } from './filter-reconciler.js';
import { FilterVersions } from './filter-versions.js';
import { type Judged, RegisteredServices } from './registered-services.js';
import { ServicesInTurn, serviceName, tenantName } from './services-in-turn.js';
import { WantedServices } from './wanted-services.js';

/** So many services are read at once: their filters may have 64 KB each. */
const AT_ONCE = 20;
/** For so long the stream waits at a time (milliseconds); what is left then comes with the next batch. */
const PORTION_MS = 500;
/** Without an edit the next look at the queue comes after this (milliseconds). */
const LONGEST_REST_MS = 10_000;
/** A stretch of records may be looked for and judged for 22 s without a sign of life (milliseconds). */
const LONGEST_SILENCE_MS = 30_000;
const EDITED = 'edited';

/** What a term knows of the services. */
class Known {
  readonly waiting = new ServicesInTurn();
  readonly registered = new RegisteredServices();
  /** The version of each service, where it is known. */
  readonly versions = new Map<string, number>();
  /** Ends with the last look at services that was begun. */
  looked: Promise<unknown> = Promise.resolve();

  constructor(readonly edited = new EditedServices()) {}
}

/**
 * What of `services` has changed, for the one who leads. What an event names is read, and nothing else. Many changes at once
 * are worked through in portions, of each application in turn; what changes again before its turn is worked through once, as it
 * is then.
 */
@Injectable()
export class FilterChanges {
  private readonly log = new Logger('Filters');
  /** What each term knows: one that was given up may still be at work here, and takes nothing from the next one. */
  private readonly terms = new WeakMap<TermAtWork, Known>();
  private readonly edits = new EventEmitter();
  private readonly longestSilenceMs = LONGEST_SILENCE_MS;

  constructor(
    private readonly wanted: WantedServices,
    private readonly entries: FilterVersions,
    private readonly reconciler: FilterReconciler,
    private readonly metrics: Metrics,
  ) {}

  /** Looks at all services, and has done with all of them: what changed before this leader began is not told to it. */
  async lookAtAll(term: TermAtWork): Promise<void> {
    const known = await this.findAll(term);
    while (!known.waiting.isEmpty) await this.some(known, term);
  }

  /**
   * Looks at the services that these documents name or named before, or at all services if the documents are not known. A few
   * failed services of the same applications are looked at too: the change may have removed the cause.
   */
  async look(ids: mongo.ObjectId[] | undefined, term: TermAtWork): Promise<void> {
    if (ids === undefined) await this.findAll(term);
    else {
      const tenants = await this.find(ids, term);
      const near = this.reconciler.failed().filter((key) => tenants.has(tenantName(key)));
      for (const key of near.slice(0, AT_ONCE)) this.knownTo(term).waiting.add(key);
    }
    await this.goOn(term);
  }

  /** The next portion of what waits. */
  async goOn(term: TermAtWork): Promise<void> {
    const known = this.knownTo(term);
    const ends = performance.now() + PORTION_MS;
    while (performance.now() < ends && (await this.some(known, term)));
  }

  /**
   * Looks again at what failed, and at what an overtaken leader has written down too late. Whoever reads the versions alone
   * sees that somebody else has changed one.
   */
  async lookAgain(term: TermAtWork): Promise<void> {
    const { waiting, versions } = this.knownTo(term);
    for (const key of this.reconciler.failed()) waiting.add(key);
    for await (const some of this.entries.versions()) {
      for (const { version, ...key } of some)
        if (versions.get(serviceName(key)) !== version) waiting.add(key);
      term.showLife();
    }
    await this.goOn(term);
  }

  /**
   * Stamps the records of the next edited service, then brings into force what is wanted by then: an edit that came meanwhile
   * follows in the same write. Where no service waits, or only further ones of applications whose turn is under way, it ends
   * once there may be one, or after some seconds. False where that failed: one in trouble keeps no other waiting. It is tried again
   * after a pause where the failure says nothing about it, else with the next look at all versions.
   */
  async stampNext(term: TermAtWork, stop: AbortSignal): Promise<boolean> {
    const { edited } = this.knownTo(term);
    const key = edited.take();
    if (key === undefined) {
      const signal = endsAfter(edited.restMs(LONGEST_REST_MS), stop);
      await once(this.edits, EDITED, { signal }).catch(() => undefined);
      return true;
    }
    let isDone = false;
    try {
      isDone = await this.stamp(key, term, stop);
      edited.end(key);
    } catch (error) {
      edited.endFailed(key);
      if (!stop.aborted)
        this.log.error({ err: error }, `${nameOf(key)} could not be stamped and is tried again soon`);
    } finally {
      if (!isDone) {
        this.knownTo(term).versions.delete(serviceName(key));
        if (!stop.aborted) void this.entries.countFailure(key).catch(() => undefined);
      }
      this.edits.emit(EDITED);
    }
    return isDone;
  }

  /** The term is over: others tell what is beyond the limits. */
  leave(): void {
    this.metrics.servicesBeyondLimits.set(0);
  }

  /** It shows no life of the term: a stream that hangs is given up although there is much to stamp. False where it failed. */
  private stamp(key: ServiceKey, term: TermAtWork, stop: AbortSignal): Promise<boolean> {
    return asLongAsAlive(stop, this.longestSilenceMs, async (life) => {
      const stamped = await this.reconciler.stamp(key, { term: life, stop: life.signal });
      if (stamped !== false) await this.reconcile(this.knownTo(term), [key], life, stamped);
      return stamped !== false;
    });
  }

  /** The next ones that wait; false where there are none. */
  private async some(known: Known, term: TermAtWork): Promise<boolean> {
    const keys = known.waiting.take(AT_ONCE);
    if (keys.length === 0) return false;
    await this.reconcile(known, keys, term);
    return true;
  }

  /**
   * One look follows the other: where an edit finds its service still pending, the look that ends the stamping comes later and
   * reads that edit.
   */
  private async reconcile(
    known: Known,
    keys: ServiceKey[],
    term: TermAtWork,
    stamped?: StampedVersion,
  ): Promise<void> {
    const { registered, versions, edited } = known;
    const look = async () => {
      const beyond = new Set(keys.filter((key) => registered.isBeyond(key)).map(serviceName));
      const reconciled = await this.reconciler.reconcile(keys, { beyond, stamped }, term);
      for (const { key, version, isPending } of reconciled) {
        if (version === undefined) versions.delete(serviceName(key));
        else versions.set(serviceName(key), version);
        if (isPending) edited.add(key);
      }
      if (reconciled.some(({ isPending }) => isPending)) this.edits.emit(EDITED);
      term.showLife();
    };
    const looked = known.looked.then(look);
    known.looked = looked.catch(() => undefined);
    await looked;
  }

  private async findAll(term: TermAtWork): Promise<Known> {
    const { edited, looked } = this.knownTo(term);
    const known = new Known(edited);
    known.looked = looked;
    this.terms.set(term.whole ?? term, known);
    for await (const some of this.entries.versions()) {
      for (const { version: _version, ...key } of some) known.waiting.add(key);
      term.showLife();
    }
    for await (const some of this.wanted.named()) {
      for (const document of some) {
        known.registered.learn(document);
        if (document.key !== undefined) known.waiting.add(document.key);
      }
      term.showLife();
    }
    this.judge(known);
    return known;
  }

  /** Answers the applications that the documents name or named. */
  private async find(ids: mongo.ObjectId[], term: TermAtWork): Promise<Set<string>> {
    const known = this.knownTo(term);
    const { waiting, registered } = known;
    const tenants = new Set<string>();
    const add = (key: ServiceKey) => {
      waiting.add(key);
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
    this.judge(known);
    return tenants;
  }

  /** What came to be beyond the limits of its application, or within them, is looked at as well. */
  private judge({ waiting, registered }: Known): void {
    for (const judged of registered.judge()) {
      for (const key of judged.moved) waiting.add(key);
      this.tell(judged);
    }
    this.metrics.servicesBeyondLimits.set(registered.beyond);
  }

  private tell({ organizationid, appid, beyond, before }: Judged): void {
    const application = `${organizationid}/${appid}`;
    if (before === 0)
      this.log.warn(
        `${application} has more services than are allowed, ${count(MOST_SERVICES)} of 4 MB together: those beyond that answer ` +
          '500 service-misconfigured; admin status names them',
      );
    else if (beyond === 0) this.log.log(`${application} has no more services than are allowed`);
  }

  private knownTo(term: TermAtWork): Known {
    const of = term.whole ?? term;
    const known = this.terms.get(of) ?? new Known();
    this.terms.set(of, known);
    return known;
  }
}
