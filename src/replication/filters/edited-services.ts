import type { ServiceKey } from '../../application/index.js';
import { ServicesInTurn, serviceName, tenantName } from './services-in-turn.js';

/** How long a service waits after its first failure in a row; twice as long after each further one, up to the second figure (milliseconds). */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 20_000;

interface Failed {
  key: ServiceKey;
  /** In a row. */
  failures: number;
  /** When it may be tried again (of `performance.now()`). */
  due: number;
}

/** Edited services whose records are to be stamped anew: of each application one at a time. */
export class EditedServices {
  private readonly waiting = new ServicesInTurn();
  private readonly underWay = new Set<string>();
  private readonly failed = new Map<string, Failed>();

  add(key: ServiceKey): void {
    this.waiting.add(key);
  }

  take(): ServiceKey | undefined {
    const now = performance.now();
    for (const one of this.failed.values()) {
      if (one.due > now) continue;
      this.waiting.add(one.key);
      one.due = Infinity;
    }
    const [key] = this.waiting.take(1, this.underWay);
    if (key !== undefined) this.underWay.add(tenantName(key));
    return key;
  }

  end(key: ServiceKey): void {
    this.underWay.delete(tenantName(key));
    this.failed.delete(serviceName(key));
  }

  /** The same of one that failed: it is tried again after a pause. */
  endFailed(key: ServiceKey): void {
    const failures = (this.failed.get(serviceName(key))?.failures ?? 0) + 1;
    this.end(key);
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    this.failed.set(serviceName(key), { key, failures, due: performance.now() + pauseMs });
  }

  /** Milliseconds until one that failed may be tried again, at most this number. */
  restMs(most: number): number {
    const now = performance.now();
    let rest = most;
    for (const { due } of this.failed.values()) rest = Math.min(rest, Math.max(0, Math.ceil(due - now)));
    return rest;
  }
}
