import type { mongo } from 'mongoose';
import type { ServiceKey } from '../../application/index.js';
import { isObjectId, type Tenant } from '../../record/index.js';
import { FirstThatFit, type Registered } from './first-that-fit.js';
import { serviceName, tenantName } from './services-in-turn.js';
import type { NamedService } from './wanted-services.js';

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
