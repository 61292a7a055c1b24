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
 * A record that changes meanwhile is left to the next harvest, which tells it in any case. Throws {@link CopyTakenError}
 * where another harvest has written since: what differed then may be right now.
 */
export async function repair(
  compared: Compared,
  { differences, state }: Pick<Verified, 'differences' | 'state'>,
  { signal }: VerifyOptions = {},
): Promise<Repaired> {
  const asked = signal === undefined ? {} : { signal };
  const extra = differences.filter(({ told }) => told === undefined).map(({ id }) => id);
  for (let at = 0; at < extra.length; at += BATCH)
    await compared.store.mend({ upserts: [], removed: extra.slice(at, at + BATCH), state });
  const wanted = new Map(differences.flatMap(({ id, told }) => (told === undefined ? [] : [[id, told]])));
  for (const window of windowsOver([...wanted.values()])) {
    let batch: ToldUpsert[] = [];
    for await (const item of updatesOf(compared.source, { ...window, ...asked })) {
      if (wanted.get(item.id) === item.lastupdated) batch.push(item);
      if (batch.length < BATCH) continue;
      await compared.store.mend({ upserts: batch, removed: [], state });
      batch = [];
    }
    if (batch.length > 0) await compared.store.mend({ upserts: batch, removed: [], state });
  }
  return { mended: differences, left: await verify(compared, asked) };
}

async function* updatesOf(source: HarvestSource, within: StampedWithin): AsyncIterable<ToldUpsert> {
  for await (const item of source.updates(within)) yield { op: 'upsert', ...item };
}
