import type { mongo } from 'mongoose';
import { MOST_SERVICE_BYTES, MOST_SERVICES, type ServiceKey } from '../../../application/index.js';
import { isObjectId, type Tenant } from '../../../record/index.js';
import {
  EditedServices,
  serviceName,
  ServicesInTurn,
  tenantName,
  type NamedService,
} from './wanted-services.js';

/** A document of `services` that names a service. */
interface Registered {
  /** The `_id` in hexadecimal digits; the name of the service if the `_id` is not an ObjectId. */
  _id: string;
  key: ServiceKey;
  name: string;
  bytes: number;
  /** Whether it was within the limits of its application when last judged. */
  isWithin: boolean;
  isGone: boolean;
}

interface Within {
  one: Registered;
  /** Total bytes up to and including this one. */
  bytes: number;
}

/** A service that moved across the limits. */
interface Moved {
  key: ServiceKey;
  name: string;
  isBeyond: boolean;
}

/**
 * The services of one application in the order of their `_id`, and which of them are within its limits. Only services from
 * the first change on are judged again, and only up to the place where no further service fits.
 */
class FirstThatFit {
  /** By name. */
  readonly beyond = new Map<string, ServiceKey>();
  private readonly order: Registered[] = [];
  private bytes = 0;
  /** The smallest size that was ever added. */
  private smallest = Infinity;
  /** The services within the limits, in order; undefined if all are. */
  private within: Within[] | undefined;
  /** Added since the last judgement. */
  private readonly added = new Set<Registered>();
  /** Services that were changed since the last judgement, and whether they were beyond the limits before. */
  private readonly touched = new Map<string, { key: ServiceKey; wasBeyond: boolean }>();
  private firstChange: string | undefined;

  get isEmpty(): boolean {
    return this.order.length === 0;
  }

  services(): ServiceKey[] {
    return this.order.map(({ key }) => key);
  }

  add(one: Registered): void {
    const last = this.order.at(-1);
    const place = last === undefined || last._id < one._id ? this.order.length : rankOf(this.order, one._id);
    this.order.splice(place, 0, one);
    this.bytes += one.bytes;
    this.smallest = Math.min(this.smallest, one.bytes);
    this.added.add(one);
    this.touch(one);
  }

  remove(one: Registered): void {
    this.order.splice(rankOf(this.order, one._id), 1);
    this.bytes -= one.bytes;
    one.isGone = true;
    this.added.delete(one);
    this.touch(one);
    this.beyond.delete(one.name);
  }

  /**
   * Returns the services that moved across the limits since the last call: first those that are now beyond the limits,
   * then those that are now within them, each group sorted by name.
   */
  judge(): Moved[] {
    if (this.firstChange !== undefined) this.judgeFrom(this.firstChange);
    this.firstChange = undefined;
    this.added.clear();
    const moved = [...this.touched].flatMap(([name, { key, wasBeyond }]): Moved[] => {
      const isBeyond = this.beyond.has(name);
      return isBeyond === wasBeyond ? [] : [{ key, name, isBeyond }];
    });
    this.touched.clear();
    return moved.sort((a, b) => Number(b.isBeyond) - Number(a.isBeyond) || (a.name < b.name ? -1 : 1));
  }

  private judgeFrom(first: string): void {
    if (this.order.length <= MOST_SERVICES && this.bytes <= MOST_SERVICE_BYTES) {
      if (this.within !== undefined) for (const one of this.order) this.put(one, true);
      this.within = undefined;
      return;
    }
    const before = this.withinFrom(first);
    for (const one of before) one.isWithin = false;
    const changed = new Set([...before, ...this.added]);
    for (const one of this.fill(first)) changed.add(one);
    for (const one of changed) if (!one.isGone) this.put(one, one.isWithin);
  }

  /**
   * Removes from the list `within` the services from this `_id` on. Returns them. If all services were within the
   * limits, there is no list yet: begins an empty one, and returns all services.
   */
  private withinFrom(first: string): Registered[] {
    if (this.within === undefined) {
      this.within = [];
      return [...this.order];
    }
    const place = lowest(this.within.length, (index) => this.within![index]!.one._id >= first);
    return this.within.splice(place).map(({ one }) => one);
  }

  /** Appends to the list `within` the services from this `_id` on that fit. Returns them. */
  private fill(first: string): Registered[] {
    const within = this.within!;
    const filled: Registered[] = [];
    let bytes = within.at(-1)?.bytes ?? 0;
    const start = within.length === 0 ? 0 : rankOf(this.order, first);
    for (let place = start; place < this.order.length; place += 1) {
      if (within.length === MOST_SERVICES || MOST_SERVICE_BYTES - bytes < this.smallest) break;
      const one = this.order[place]!;
      if (one.bytes > MOST_SERVICE_BYTES - bytes) continue;
      bytes += one.bytes;
      one.isWithin = true;
      within.push({ one, bytes });
      filled.push(one);
    }
    return filled;
  }

  private put(one: Registered, isWithin: boolean): void {
    one.isWithin = isWithin;
    if (this.beyond.has(one.name) === !isWithin) return;
    this.note(one);
    if (isWithin) this.beyond.delete(one.name);
    else this.beyond.set(one.name, one.key);
  }

  private touch(one: Registered): void {
    this.note(one);
    if (this.firstChange === undefined || one._id < this.firstChange) this.firstChange = one._id;
  }

  private note({ name, key }: Registered): void {
    if (!this.touched.has(name)) this.touched.set(name, { key, wasBeyond: this.beyond.has(name) });
  }
}

/** The index of an `_id`, or where it would be inserted. */
function rankOf(order: Registered[], _id: string): number {
  return lowest(order.length, (index) => order[index]!._id >= _id);
}

/** The lowest index for which a monotonic condition is true; the length if there is none. */
function lowest(length: number, isTrueAt: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isTrueAt(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** An application with services that moved beyond its limits, or back within them. */
export interface Judged extends Tenant {
  /** Number of services beyond the limits, now and before. */
  beyond: number;
  before: number;
  /** The services that moved across the limits. */
  moved: ServiceKey[];
}

/**
 * The documents of `services` that name a service, and which services are beyond the limits of their application: other
 * programs write this collection without a limit. The services of an application count in the order of their `_id`, so that
 * the oldest ones stay. A service that is too large for the remaining space is skipped.
 */
export class RegisteredServices {
  /** Number of services beyond the limits of their applications. */
  beyond = 0;

  private readonly documents = new Map<string, Registered>();
  private readonly applications = new Map<string, FirstThatFit>();
  /** Applications whose documents changed since they were judged, and how many services were beyond the limits then. */
  private readonly touched = new Map<string, number>();

  /** Stores the current state of a document. */
  learn({ _id, key, bytes }: NamedService): void {
    // An `_id` that is not an ObjectId is never looked up: an event with one causes all documents to be read again.
    const id = isObjectId(_id) ? _id.toHexString() : key && serviceName(key);
    if (id === undefined) return;
    this.remove(id);
    if (key === undefined) return;
    const document = { _id: id, key, name: serviceName(key), bytes, isWithin: false, isGone: false };
    this.touch(tenantName(key)).add(document);
    this.documents.set(id, document);
  }

  forget(_id: mongo.ObjectId): void {
    this.remove(_id.toHexString());
  }

  /** The service that a document named until now. The event of a delete contains only the `_id`. */
  named(_id: mongo.ObjectId): ServiceKey | undefined {
    return this.documents.get(_id.toHexString())?.key;
  }

  /** The services that the documents name. */
  *services(): Generator<ServiceKey> {
    for (const { key } of this.documents.values()) yield key;
  }

  /** The services of one application. */
  within(application: Tenant): ServiceKey[] {
    return this.applications.get(tenantName(application))?.services() ?? [];
  }

  isBeyond(key: ServiceKey): boolean {
    return this.applications.get(tenantName(key))?.beyond.has(serviceName(key)) === true;
  }

  /** Judges the applications that changed since the last call. Returns those in which a service moved across the limits. */
  judge(): Judged[] {
    const judged: Judged[] = [];
    for (const [tenant, before] of this.touched) {
      const application = this.applications.get(tenant)!;
      const moved = application.judge();
      const beyond = application.beyond.size;
      this.beyond += beyond - before;
      if (moved.length > 0) {
        const { organizationid, appid } = moved[0]!.key;
        judged.push({ organizationid, appid, beyond, before, moved: moved.map(({ key }) => key) });
      }
      if (application.isEmpty) this.applications.delete(tenant);
    }
    this.touched.clear();
    return judged;
  }

  private remove(id: string): void {
    const document = this.documents.get(id);
    if (document === undefined) return;
    this.documents.delete(id);
    this.touch(tenantName(document.key)).remove(document);
  }

  private touch(tenant: string): FirstThatFit {
    const application = this.applications.get(tenant) ?? new FirstThatFit();
    this.applications.set(tenant, application);
    if (!this.touched.has(tenant)) this.touched.set(tenant, application.beyond.size);
    return application;
  }
}

/** How often all versions are read (milliseconds): no event reports a version that a superseded leader wrote late. */
const AGAIN_MS = 20_000;

/** What a term knows of the services. */
export class KnownToTerm {
  readonly registered = new RegisteredServices();
  /** The version of each service, if known. */
  readonly versions = new Map<string, number>();
  /** When all versions are read next (of `performance.now()`). */
  againAt = performance.now() + AGAIN_MS;

  /** Decides which services are beyond the limits. While all documents are read again, this is the previous state. */
  judged = this.registered;

  constructor(
    readonly waiting = new ServicesInTurn(),
    readonly edited = new EditedServices(),
    /** For each service, the check that began last: a promise that settles when the check has ended. */
    readonly checks = new Map<string, Promise<unknown>>(),
  ) {}

  readAgainLater(): void {
    this.againAt = performance.now() + AGAIN_MS;
  }
}
