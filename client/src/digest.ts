import { ConnectionError } from './http/connection-error.js';
import type { Sender } from './http/sender.js';
import type { CallOptions } from './options.js';
import type { ServiceDigest, Kind } from './shapes.js';

export interface DigestOptions extends CallOptions {
  /** Up to which moment: the `to` of the harvest that the copy shows. */
  to: Date | string;
  /** How many buckets the ids are put into. Without it what the service takes. */
  buckets?: number | undefined;
  /** Buckets whose ids are listed, from 0. */
  bucket?: number[] | undefined;
}

/** The sums over the records of a service, to compare a copy with them. */
export async function digestOf(
  sender: Sender,
  [kind, service]: [kind: Kind, service: string],
  { signal, ...query }: DigestOptions,
): Promise<ServiceDigest> {
  const path: [string, ...string[]] = ['api/v1', kind, service, 'digest'];
  const { body } = await sender.send<ServiceDigest>({ method: 'GET', path, query: { ...query }, signal });
  assertDigest(body);
  return body;
}

/** A proxy may answer instead of the service. What type a number has is up to the `parse` of the caller. */
function assertDigest(body: { buckets?: unknown; count?: unknown } | null): void {
  const lacks = Array.isArray(body?.buckets) ? 'count' : 'buckets';
  if (lacks === 'count' && body?.count !== undefined) return;
  throw new ConnectionError(`The answer is no digest: it lacks ${lacks}.`);
}
