import type { ServiceKey } from '../../application/index.js';
import type { Tenant } from '../../record/index.js';

/** Services that are still to be looked at: one of each application in turn, so that many of one delay no other. */
export class ServicesInTurn {
  private readonly applications = new Map<string, Map<string, ServiceKey>>();

  get isEmpty(): boolean {
    return this.applications.size === 0;
  }

  /** The names of the applications of which more than this number wait. */
  crowded(most: number): Set<string> {
    return new Set([...this.applications].flatMap(([name, { size }]) => (size > most ? [name] : [])));
  }

  /** One that waits already keeps its place. */
  add(key: ServiceKey): void {
    const application = tenantName(key);
    const waiting = this.applications.get(application) ?? new Map<string, ServiceKey>();
    const name = serviceName(key);
    if (!waiting.has(name)) waiting.set(name, key);
    this.applications.set(application, waiting);
  }

  /** Takes the next ones, at most this number, and none of the applications in `leftOut`. */
  take(most: number, leftOut?: ReadonlySet<string>): ServiceKey[] {
    const taken: ServiceKey[] = [];
    for (const [application, waiting] of this.applications) {
      if (taken.length === most) break;
      if (leftOut?.has(application) === true) continue;
      const [name, key] = waiting.entries().next().value!;
      taken.push(key);
      waiting.delete(name);
      this.applications.delete(application);
      // After all others, so that this loop comes to it again.
      if (waiting.size > 0) this.applications.set(application, waiting);
    }
    return taken;
  }
}

/** A service by one text, unlike that of any other. */
export function serviceName({ organizationid, appid, kind, name }: ServiceKey): string {
  return JSON.stringify([organizationid, appid, kind, name]);
}

/** The same of an application. */
export function tenantName({ organizationid, appid }: Tenant): string {
  return JSON.stringify([organizationid, appid]);
}
