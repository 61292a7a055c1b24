import type { Waiting } from '../../http/index.js';
import type { Tenant } from '../../record/index.js';
import type { ProgressLook } from './progress.js';
import { restInWords, retryAfter, secondsToPresent, shareKnown, type StoredWork } from './rest.js';

/** What an application waits for: work that is under way. */
export function waitingFor({ organizationid, appid }: Tenant, work: StoredWork): Waiting {
  return waiting({ organizationid, appid }, work, shareKnown(work));
}

/** What an application waits for whose changes are not worked through: events of its own loop, or seconds of the log. */
export function waitingAt(
  tenant: Tenant,
  { isAside, work, watched, clock }: Pick<ProgressLook, 'isAside' | 'work' | 'watched' | 'clock'>,
): Waiting {
  if (isAside) return waitingFor(tenant, work);
  const [done, total] = [watched.getHighBitsUnsigned(), Math.floor(clock.getTime() / 1000)];
  return waiting(tenant, { done, total, pace: work.pace }, undefined);
}

function waiting({ organizationid, appid }: Tenant, work: StoredWork, share: number | undefined): Waiting {
  const seconds = secondsToPresent(work);
  return {
    application: `${organizationid}/${appid}`,
    progress: restInWords(share, seconds),
    retryAfter: retryAfter(work),
  };
}
