import { Injectable } from '@nestjs/common';
import { MinuteCounts } from '../../auth/index.js';
import { problems } from '../../http/index.js';
import type { Tenant } from '../../record/index.js';

/** Each edit of a service is work for the leader, on which all applications wait. */
const MOST_A_MINUTE = 300;

/** How often services of one application are edited through this instance. */
@Injectable()
export class EditPace {
  private readonly edits = new MinuteCounts();

  /** Throws 429 `too-many-edits` where the services of the application were edited too often in this minute. */
  count({ organizationid, appid }: Tenant): void {
    const { count, secondsLeft } = this.edits.add(JSON.stringify([organizationid, appid]));
    if (count > MOST_A_MINUTE) throw problems.tooManyEdits(secondsLeft, MOST_A_MINUTE);
  }
}
