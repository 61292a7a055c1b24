import { BUCKETS, bucketOf, CopySums } from './digest-sums.js';
import type { Harvester } from './harvester.js';
import type { HarvestSource, ToldDigest } from './source.js';
import type { CopyState } from './state.js';
import type { CopyStore } from './store.js';
import { type UnfitRecord, unfitKey } from './unfit.js';

/** A record that the copy holds with another stamp than the source, or that one of both lacks. */
export interface CopyDifference {
  id: string;
  /** The stamp in the copy. */
  held?: string;
  /** The stamp in the source. */
  told?: string;
}

export interface VerifyOptions {
  signal?: AbortSignal;
}

export interface Verified {
  differences: CopyDifference[];
  /** How many records the source has. */
  count: number;
  /** Up to which moment copy and source were compared. */
  to: string;
  /** Records that the store refuses. One that the copy therefore lacks is no difference; an old version of it in the copy is one. */
  unfit: UnfitRecord[];
  /** Where the copy stood then: nothing is mended once another harvest has written since. */
  state: CopyState;
}

export interface Compared {
  source: HarvestSource;
  store: CopyStore;
  harvester: Harvester;
}

/** Differences that a harvest in between does not mend are looked at so often. */
const LOOKS = 3;
/** The service lists the ids of this many buckets in one answer. */
const MOST_BUCKETS = 64;
/** Records that one answer shall tell at most, on average. */
const MOST_RECORDS = 50_000;

/**
 * Brings a copy up to date and compares ids and stamps with the source, by the digest of contract §1. A record that changes
 * meanwhile looks different as well: what differs is looked at again behind another harvest, and counts where the copy
 * still holds what it held. What else a record holds is not compared.
 */
export async function verify(compared: Compared, { signal }: VerifyOptions = {}): Promise<Verified> {
  const asked = signal === undefined ? {} : { signal };
  const { count, to, buckets, ...first } = await firstLook(compared, asked);
  let { state } = first;
  let found = await recordsOf(compared, { to, buckets, count, ...asked });
  for (let look = 1; look < LOOKS && found.length > 0; look += 1) {
    const again = await upToDate(compared, asked);
    state = again.state;
    const still = await recordsOf(compared, {
      ...{ to: again.to, count, ...asked },
      buckets: [...new Set(found.map(({ id }) => bucketOf(id)))],
    });
    const before = new Map(found.map((difference) => [difference.id, difference]));
    found = still.filter(({ id, held }) => before.has(id) && before.get(id)?.held === held);
  }
  const { unfit = [] } = state;
  const stamps = new Map(unfit.map(({ key, lastupdated }) => [key, lastupdated]));
  const isRefused = ({ id, held, told }: CopyDifference) =>
    stamps.size > 0 && held === undefined && stamps.get(unfitKey(id)) === told;
  const differences = found.filter((difference) => !isRefused(difference));
  return {
    differences: differences.sort((one, other) => (one.id < other.id ? -1 : 1)),
    ...{ unfit, count, to, state },
  };
}

/** Which buckets differ. */
async function firstLook(compared: Compared, asked: VerifyOptions) {
  const { to, state } = await upToDate(compared, asked);
  const told = await compared.source.digest({ to, ...asked });
  const sums = new CopySums();
  for await (const batch of compared.store.held()) for (const held of batch) sums.add(held);
  return { to, state, count: told.count, buckets: differing(sums, told) };
}

function differing(sums: CopySums, { buckets }: ToldDigest): number[] {
  if (buckets.length !== BUCKETS)
    throw new Error(`The service told ${buckets.length} buckets, not ${BUCKETS}.`);
  return sums.buckets.flatMap(({ count, digest }, bucket) =>
    buckets[bucket]?.count === count && buckets[bucket].digest === digest ? [] : [bucket],
  );
}

interface AskedRecords extends VerifyOptions {
  to: string;
  buckets: number[];
  count: number;
}

/** Compares the records of some buckets one by one. */
async function recordsOf(
  { source, store }: Compared,
  { to, buckets, count, ...asked }: AskedRecords,
): Promise<CopyDifference[]> {
  const found: CopyDifference[] = [];
  const atOnce = Math.min(MOST_BUCKETS, Math.max(1, Math.floor((MOST_RECORDS * BUCKETS) / (count + 1))));
  for (let at = 0; at < buckets.length; at += atOnce) {
    const bucket = buckets.slice(at, at + atOnce);
    const { records } = await source.digest({ to, bucket, ...asked });
    // Without them, all that the copy holds would look like a difference.
    if (records === undefined)
      throw new Error('The service told no records of the buckets that it was asked for.');
    const told = new Map(records.map(({ id, lastupdated }) => [id, lastupdated]));
    const wanted = new Set(bucket);
    for await (const batch of store.held())
      for (const { id, lastupdated: held } of batch) {
        if (!wanted.has(bucketOf(id))) continue;
        const stamp = told.get(id);
        told.delete(id);
        if (stamp === undefined) found.push({ id, held });
        else if (stamp !== held) found.push({ id, held, told: stamp });
      }
    for (const [id, stamp] of told) found.push({ id, told: stamp });
  }
  return found;
}

async function upToDate(
  { harvester, store }: Compared,
  asked: VerifyOptions,
): Promise<{ to: string; state: CopyState }> {
  const { to } = await harvester.harvest(asked);
  const state = await store.state();
  if (to === undefined || state === undefined)
    throw new Error('The harvest ended without a moment to compare at.');
  return { to, state };
}
