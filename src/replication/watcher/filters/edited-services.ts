import type { ServiceKey } from '../../../application/index.js';
import type { Tenant } from '../../../record/index.js';
import { ALL, type AppShare, isIn } from '../../protocol/index.js';

/**
 * Services that wait for a check. One of each application is taken in turn, so that many of one application delay no other.
 */
export class ServicesInTurn {
  private readonly applications = new Map<string, Map<string, ServiceKey>>();

  get isEmpty(): boolean {
    return this.applications.size === 0;
  }

  /** The names of the applications with more than this number of waiting services. */
  crowded(most: number): Set<string> {
    return new Set([...this.applications].flatMap(([name, { size }]) => (size > most ? [name] : [])));
  }

  /** A service that already waits keeps its place. */
  add(key: ServiceKey): void {
    const application = tenantName(key);
    const waiting = this.applications.get(application) ?? new Map<string, ServiceKey>();
    const name = serviceName(key);
    if (!waiting.has(name)) waiting.set(name, key);
    this.applications.set(application, waiting);
  }

  /** Takes the next ones, at most this number, and none of the applications in `leftOut` or outside of a share. */
  take(most: number, leftOut?: ReadonlySet<string>, share: AppShare = ALL): ServiceKey[] {
    const taken: ServiceKey[] = [];
    for (const [application, waiting] of this.applications) {
      if (taken.length === most) break;
      if (leftOut?.has(application) === true) continue;
      const [name, key] = waiting.entries().next().value!;
      if (!isIn(share, key)) continue;
      taken.push(key);
      waiting.delete(name);
      this.applications.delete(application);
      // After all others, so that this loop reaches it again.
      if (waiting.size > 0) this.applications.set(application, waiting);
    }
    return taken;
  }
}

/** A unique name of a service. */
export function serviceName({ organizationid, appid, kind, name }: ServiceKey): string {
  return JSON.stringify([organizationid, appid, kind, name]);
}

/** A unique name of an application. */
export function tenantName({ organizationid, appid }: Tenant): string {
  return JSON.stringify([organizationid, appid]);
}

/**
 * Pause of a service after its first consecutive failure (milliseconds). It doubles with each further one, up to
 * `LONGEST_PAUSE_MS`.
 */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 20_000;

interface Failed {
  key: ServiceKey;
  /** Number of consecutive failures. */
  failures: number;
  /** When it may be tried again (of `performance.now()`). */
  due: number;
}

/** Edited services whose records have to be re-stamped, one of each application at a time. */
export class EditedServices {
  private readonly waiting = new ServicesInTurn();
  private readonly underWay = new Set<string>();
  private readonly failed = new Map<string, Failed>();

  add(key: ServiceKey): void {
    this.waiting.add(key);
  }

  /** Takes the next one of a share. */
  take(share: AppShare): ServiceKey | undefined {
    const now = performance.now();
    for (const one of this.failed.values()) {
      if (one.due > now) continue;
      this.waiting.add(one.key);
      one.due = Infinity;
    }
    const [key] = this.waiting.take(1, this.underWay, share);
    if (key !== undefined) this.underWay.add(tenantName(key));
    return key;
  }

  end(key: ServiceKey): void {
    this.underWay.delete(tenantName(key));
    this.failed.delete(serviceName(key));
  }

  /** Ends a service that failed. It is tried again after a pause. */
  endFailed(key: ServiceKey): void {
    const failures = (this.failed.get(serviceName(key))?.failures ?? 0) + 1;
    this.end(key);
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    this.failed.set(serviceName(key), { key, failures, due: performance.now() + pauseMs });
  }

  /** Milliseconds until a failed service may be tried again, at most this number. */
  restMs(most: number): number {
    const now = performance.now();
    let rest = most;
    for (const { due } of this.failed.values()) rest = Math.min(rest, Math.max(0, Math.ceil(due - now)));
    return rest;
  }
}
