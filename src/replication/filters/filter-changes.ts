import { Injectable } from '@nestjs/common';
import type { mongo } from 'mongoose';
import type { ServiceKey } from '../../application/index.js';
import { isObjectId } from '../../record/index.js';
import type { TermAtWork } from '../progress/index.js';
import { FilterReconciler } from './filter-reconciler.js';
import { FilterVersions } from './filter-versions.js';
import { ServicesInTurn, serviceName } from './services-in-turn.js';
import { WantedServices } from './wanted-services.js';

/** So many services are read at once: their filters may have 64 KB each. */
const AT_ONCE = 20;
/** For so long the stream waits at a time (milliseconds); what is left then comes with the next batch. */
const PORTION_MS = 500;

/** What a term knows of the services. */
class Known {
  readonly waiting = new ServicesInTurn();
  /** Which service a document names, or did so last, by the hex of its `_id`: an event tells of a delete by that alone. */
  readonly named = new Map<string, ServiceKey>();
  /** The version of each service. */
  readonly versions = new Map<string, number>();

  learn(_id: unknown, key: ServiceKey | undefined): void {
    if (key !== undefined) this.waiting.add(key);
    if (!isObjectId(_id)) return;
    if (key === undefined) this.named.delete(_id.toHexString());
    else this.named.set(_id.toHexString(), key);
  }
}

/**
 * What of `services` has changed, for the one who leads. What an event names is read, and nothing else. Many changes at once
 * are worked through in portions, of each application in turn.
 */
@Injectable()
export class FilterChanges {
  /** What each term knows: one that was given up may still be at work here, and takes nothing from the next one. */
  private readonly terms = new WeakMap<TermAtWork, Known>();

  constructor(
    private readonly wanted: WantedServices,
    private readonly entries: FilterVersions,
    private readonly reconciler: FilterReconciler,
  ) {}

  /** Looks at all services, and has done with all of them: what changed before this leader began is not told to it. */
  async lookAtAll(term: TermAtWork): Promise<void> {
    const { waiting } = await this.findAll(term);
    while (!waiting.isEmpty) await this.goOn(term);
  }

  /** Looks at the services that documents name now or named before, or at all where nobody knows which, and at what failed. */
  async look(ids: mongo.ObjectId[] | undefined, term: TermAtWork): Promise<void> {
    const { waiting } = ids === undefined ? await this.findAll(term) : await this.find(ids, term);
    for (const key of this.reconciler.failed()) waiting.add(key);
    await this.goOn(term);
  }

  /** The next portion of what waits. */
  async goOn(term: TermAtWork): Promise<void> {
    const { waiting, versions } = this.knownTo(term);
    const ends = performance.now() + PORTION_MS;
    while (!waiting.isEmpty && performance.now() < ends) {
      for (const { key, version } of await this.reconciler.reconcile(waiting.take(AT_ONCE), term))
        versions.set(serviceName(key), version);
      term.showLife();
    }
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

  private async findAll(term: TermAtWork): Promise<Known> {
    const known = new Known();
    this.terms.set(term, known);
    for await (const some of this.entries.versions()) {
      for (const { version: _version, ...key } of some) known.waiting.add(key);
      term.showLife();
    }
    for await (const some of this.wanted.named()) {
      for (const { _id, key } of some) known.learn(_id, key);
      term.showLife();
    }
    return known;
  }

  private async find(ids: mongo.ObjectId[], term: TermAtWork): Promise<Known> {
    const known = this.knownTo(term);
    const gone = new Map(ids.map((id) => [id.toHexString(), id]));
    for (const id of gone.keys()) {
      const before = known.named.get(id);
      if (before !== undefined) known.waiting.add(before);
    }
    for await (const some of this.wanted.named([...gone.values()])) {
      for (const { _id, key } of some) {
        known.learn(_id, key);
        if (isObjectId(_id)) gone.delete(_id.toHexString());
      }
      term.showLife();
    }
    for (const id of gone.keys()) known.named.delete(id);
    return known;
  }

  private knownTo(term: TermAtWork): Known {
    const known = this.terms.get(term) ?? new Known();
    this.terms.set(term, known);
    return known;
  }
}
