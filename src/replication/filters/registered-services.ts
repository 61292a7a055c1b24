import type { mongo } from 'mongoose';
import { MOST_SERVICE_BYTES, MOST_SERVICES, type ServiceKey } from '../../application/index.js';
import { isObjectId, type Tenant } from '../../record/index.js';
import { serviceName, tenantName } from './services-in-turn.js';
import type { NamedService } from './wanted-services.js';

/** A document of `services` that names a service. */
interface Registered {
  _id: string;
  key: ServiceKey;
  name: string;
  bytes: number;
}

interface Application {
  /** By `_id`. */
  registered: Map<string, Registered>;
  beyond: ReadonlyMap<string, ServiceKey>;
}

const NONE: ReadonlyMap<string, ServiceKey> = new Map();

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
  private readonly applications = new Map<string, Application>();
  /** Applications whose documents were added, changed or removed since they were judged. */
  private readonly touched = new Set<string>();

  /** Takes note of a document as it is now. */
  learn({ _id, key, bytes }: NamedService): void {
    // An event with an `_id` that is no ObjectId makes the watcher read all documents again.
    const id = isObjectId(_id) ? _id.toHexString() : key && serviceName(key);
    if (id === undefined) return;
    this.remove(id);
    if (key === undefined) return;
    const document = { _id: id, key, name: serviceName(key), bytes };
    const tenant = tenantName(key);
    const application = this.applications.get(tenant) ?? { registered: new Map(), beyond: NONE };
    application.registered.set(id, document);
    this.applications.set(tenant, application);
    this.documents.set(id, document);
    this.touched.add(tenant);
  }

  forget(_id: mongo.ObjectId): void {
    this.remove(_id.toHexString());
  }

  /** The service that a document named until now: the event of a delete has only the `_id`. */
  named(_id: mongo.ObjectId): ServiceKey | undefined {
    return this.documents.get(_id.toHexString())?.key;
  }

  isBeyond(key: ServiceKey): boolean {
    return this.applications.get(tenantName(key))?.beyond.has(serviceName(key)) === true;
  }

  /** Judges the applications that something was learned of since; answers those in which a service changed sides. */
  judge(): Judged[] {
    const judged: Judged[] = [];
    for (const tenant of this.touched) {
      const application = this.applications.get(tenant)!;
      const { registered, beyond: before } = application;
      const beyond = beyondOf(registered);
      application.beyond = beyond;
      this.beyond += beyond.size - before.size;
      const moved = [...without(beyond, before), ...without(before, beyond)];
      if (moved.length > 0) {
        const { organizationid, appid } = moved[0]!;
        judged.push({ organizationid, appid, beyond: beyond.size, before: before.size, moved });
      }
      if (registered.size === 0) this.applications.delete(tenant);
    }
    this.touched.clear();
    return judged;
  }

  private remove(id: string): void {
    const document = this.documents.get(id);
    if (document === undefined) return;
    const tenant = tenantName(document.key);
    this.documents.delete(id);
    this.applications.get(tenant)?.registered.delete(id);
    this.touched.add(tenant);
  }
}

/** By name. */
function beyondOf(registered: ReadonlyMap<string, Registered>): ReadonlyMap<string, ServiceKey> {
  let bytes = 0;
  for (const one of registered.values()) bytes += one.bytes;
  if (registered.size <= MOST_SERVICES && bytes <= MOST_SERVICE_BYTES) return NONE;
  const beyond = new Map<string, ServiceKey>();
  const left = { services: MOST_SERVICES, bytes: MOST_SERVICE_BYTES };
  for (const one of [...registered.values()].sort((a, b) => (a._id < b._id ? -1 : 1))) {
    if (left.services > 0 && one.bytes <= left.bytes) {
      left.services -= 1;
      left.bytes -= one.bytes;
    } else beyond.set(one.name, one.key);
  }
  return beyond;
}

function without(some: ReadonlyMap<string, ServiceKey>, others: ReadonlyMap<string, ServiceKey>) {
  return [...some].filter(([name]) => !others.has(name)).map(([, key]) => key);
}
