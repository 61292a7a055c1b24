import type { HarvestSource, StampedWithin, ToldUpsert } from './source.js';
import { type Compared, type CopyDifference, verify, type VerifyOptions, type Verified } from './verify.js';
import { windowsOver } from './windows-over.js';

/** Records that are mended in one transaction. */
const BATCH = 1000;

export interface Repaired {
  /** What was wrong, and was mended. */
  mended: CopyDifference[];
  /** What is still wrong. */
  left: Verified;
}

/**
 * Mends what {@link verify} found: reads what is wrong or missing anew, removes what the source lacks, and verifies again.
 * A record that changes meanwhile is left to the next harvest, which tells it in any case.
 */
export async function repair(
  compared: Compared,
  differences: CopyDifference[],
  options: VerifyOptions = {},
): Promise<Repaired> {
  const extra = differences.filter(({ told }) => told === undefined).map(({ id }) => id);
  for (let at = 0; at < extra.length; at += BATCH) await mend(compared, [], extra.slice(at, at + BATCH));
  const wanted = new Map(differences.flatMap(({ id, told }) => (told === undefined ? [] : [[id, told]])));
  for (const window of windowsOver([...wanted.values()])) {
    let batch: ToldUpsert[] = [];
    for await (const item of updatesOf(compared.source, { ...window, ...options })) {
      if (wanted.get(item.id) === item.lastupdated) batch.push(item);
      if (batch.length < BATCH) continue;
      await mend(compared, batch, []);
      batch = [];
    }
    if (batch.length > 0) await mend(compared, batch, []);
  }
  return { mended: differences, left: await verify(compared, options) };
}

async function* updatesOf(source: HarvestSource, within: StampedWithin): AsyncIterable<ToldUpsert> {
  for await (const item of source.updates(within)) yield { op: 'upsert', ...item };
}

async function mend({ store }: Compared, upserts: ToldUpsert[], removed: string[]): Promise<void> {
  const state = await store.state();
  if (state === undefined) throw new Error('The copy has no state any more.');
  await store.mend({ upserts, removed, state });
}
