import type { mongo } from 'mongoose';
import { MOST_SERVICE_BYTES, MOST_SERVICES, type ServiceKey } from '../../../application/index.js';
import { isObjectId, type Tenant } from '../../../record/index.js';
import { serviceName, tenantName } from './edited-services.js';
import type { NamedService } from './wanted-services.js';

/** A document of `services` that names a service. */
interface Registered {
  /** In hexadecimal digits, or the name of the service. */
  _id: string;
  key: ServiceKey;
  name: string;
  bytes: number;
  /** It is within the limits of its application, as far as these were judged. */
  isWithin: boolean;
  isGone: boolean;
}

interface Within {
  one: Registered;
  /** Bytes of those up to this one. */
  bytes: number;
}

/** A service that changed sides. */
interface Moved {
  key: ServiceKey;
  name: string;
  isBeyond: boolean;
}

/**
 * The services of one application in the order of their `_id`, and which of them are within its limits. What follows the first
 * change is judged anew, up to the place from which no other one has room: what is before or behind it is not looked at.
 */
class FirstThatFit {
  /** By name. */
  readonly beyond = new Map<string, ServiceKey>();
  private readonly order: Registered[] = [];
  private bytes = 0;
  /** None that was ever here is smaller. */
  private smallest = Infinity;
  /** Those within the limits, in order; undefined: all of them. */
  private within: Within[] | undefined;
  /** Added since they were judged. */
  private readonly added = new Set<Registered>();
  /** Services that were touched since, and whether they were beyond the limits then. */
  private readonly touched = new Map<string, { key: ServiceKey; wasBeyond: boolean }>();
  private firstChange: string | undefined;

  get isEmpty(): boolean {
    return this.order.length === 0;
  }

  add(one: Registered): void {
    const last = this.order.at(-1);
    const place = last === undefined || last._id < one._id ? this.order.length : placeOf(this.order, one._id);
    this.order.splice(place, 0, one);
    this.bytes += one.bytes;
    this.smallest = Math.min(this.smallest, one.bytes);
    this.added.add(one);
    this.touch(one);
  }

  remove(one: Registered): void {
    this.order.splice(placeOf(this.order, one._id), 1);
    this.bytes -= one.bytes;
    one.isGone = true;
    this.added.delete(one);
    this.touch(one);
    this.beyond.delete(one.name);
  }

  /** Answers the services that changed sides since; those that came to be beyond the limits first, each part by name. */
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

  /** Takes those that were within the limits from this place on off the list. */
  private withinFrom(first: string): Registered[] {
    if (this.within === undefined) {
      this.within = [];
      return [...this.order];
    }
    const place = lowest(this.within.length, (index) => this.within![index]!.one._id >= first);
    return this.within.splice(place).map(({ one }) => one);
  }

  /** Fills the list with those that have room, from the end of the list on. */
  private fill(first: string): Registered[] {
    const within = this.within!;
    const filled: Registered[] = [];
    let bytes = within.at(-1)?.bytes ?? 0;
    const start = within.length === 0 ? 0 : placeOf(this.order, first);
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

/** The place of an `_id`, or where it would be. */
function placeOf(order: Registered[], _id: string): number {
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

/** An application some of whose services came to be beyond its limits, or within them. */
export interface Judged extends Tenant {
  /** How many are beyond them, and how many were. */
  beyond: number;
  before: number;
  /** The services that changed sides. */
  moved: ServiceKey[];
}

/**
 * The documents of `services` that name a service, and which of these are beyond the limits of their application: other programs
 * write this collection without a limit. An application has its services in the order of their `_id`, so that those that were
 * there first stay; one that is too large for what is left is passed over.
 */
export class RegisteredServices {
  /** How many services are beyond the limits of their applications. */
  beyond = 0;

  private readonly documents = new Map<string, Registered>();
  private readonly applications = new Map<string, FirstThatFit>();
  /** Applications whose documents were added, changed or removed since they were judged, and how many were beyond then. */
  private readonly touched = new Map<string, number>();

  /** Takes note of a document as it is now. */
  learn({ _id, key, bytes }: NamedService): void {
    // An event with an `_id` that is no ObjectId makes the watcher read all documents again.
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

  /** The service that a document named until now: the event of a delete has only the `_id`. */
  named(_id: mongo.ObjectId): ServiceKey | undefined {
    return this.documents.get(_id.toHexString())?.key;
  }

  /** What the documents name. */
  *services(): Generator<ServiceKey> {
    for (const { key } of this.documents.values()) yield key;
  }

  isBeyond(key: ServiceKey): boolean {
    return this.applications.get(tenantName(key))?.beyond.has(serviceName(key)) === true;
  }

  /** Judges the applications that something was learned of since; answers those in which a service changed sides. */
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
