import type { ServiceKey } from '../../application/index.js';
import { ServicesInTurn, tenantName } from './services-in-turn.js';

/** Edited services whose records are to be stamped anew: of each application one at a time. */
export class EditedServices {
  private readonly waiting = new ServicesInTurn();
  private readonly underWay = new Set<string>();

  add(key: ServiceKey): void {
    this.waiting.add(key);
  }

  take(): ServiceKey | undefined {
    const [key] = this.waiting.take(1, this.underWay);
    if (key !== undefined) this.underWay.add(tenantName(key));
    return key;
  }

  end(key: ServiceKey): void {
    this.underWay.delete(tenantName(key));
  }
}
