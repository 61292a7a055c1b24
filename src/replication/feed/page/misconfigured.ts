import { isRefusedQuery } from '../../../database/index.js';
import { problems } from '../../../http/index.js';
import type { Kind } from '../../../record/index.js';

/** Throws 500 `service-misconfigured` where MongoDB refuses the filter of a service (contract §3). */
export function orMisconfigured<T>(
  work: Promise<T>,
  kind: Kind,
  service: { name: string } | undefined,
): Promise<T> {
  return work.catch((error: unknown) => {
    throw isRefusedQuery(error) && service !== undefined
      ? problems.serviceMisconfigured(kind, service.name)
      : error;
  });
}
