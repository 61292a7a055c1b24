import { Injectable } from '@nestjs/common';
import { problems } from '../../../http/index.js';
import type { Kind, Tenant } from '../../../record/index.js';
import { Horizon } from '../../ledger/index.js';
import type { View } from './page-view.js';

/** Whose hard deletes, and since when. */
export interface Kept {
  tenant: Tenant;
  kind: Kind;
  from: Date;
}

/**
 * Tells consumers whose last harvest was too long ago that hard deletes are missing (contract §3, 410). The `max` that
 * they start over with never lies before the horizon.
 */
@Injectable()
export class Retention {
  constructor(private readonly horizon: Horizon) {}

  /**
   * Throws 410 `history-expired`. To be asked after the tombstones were read: the horizon moves before anything is
   * removed, so what was read is then known to be whole.
   */
  async assertKept({ tenant, kind, from }: Kept): Promise<void> {
    const horizon = await this.horizon.read(tenant, kind);
    if (horizon !== undefined && from < horizon) throw problems.historyExpired(horizon.toISOString());
  }

  /** A view through which hard deletes are read: each time it is asked whether all of them are still kept. */
  viewOfKept(view: View, kept: Kept): View {
    return {
      get at() {
        return view.at;
      },
      asOf: async (read) => {
        const value = await view.asOf(read);
        await this.assertKept(kept);
        return value;
      },
    };
  }
}
