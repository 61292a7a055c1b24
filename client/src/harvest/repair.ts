import type { HarvestSource, StampedWithin, ToldUpsert } from './source.js';
import type { CopyState } from './state.js';
import { unfitKey, withUnfit } from './unfit.js';
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
 * Nothing is removed that the source still delivers, whatever its digest says.
 * A record that changes meanwhile is left to the next harvest, which tells it in any case. Throws {@link CopyTakenError}
 * where another harvest has written since: what differed then may be right now.
 */
export async function repair(
  compared: Compared,
  { differences, state: verified }: Pick<Verified, 'differences' | 'state'>,
  { signal }: VerifyOptions = {},
): Promise<Repaired> {
  const asked = signal === undefined ? {} : { signal };
  const state = await withWhatFits(compared, verified, asked);
  const extra = await notDelivered(
    compared.source,
    differences.filter(({ told }) => told === undefined),
    asked,
  );
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

/** Tries once more what the store could not hold: it may have been given room since. Answers the state with what is left. */
async function withWhatFits(
  { source, store }: Compared,
  state: CopyState,
  asked: VerifyOptions,
): Promise<CopyState> {
  let left = state;
  const noted = new Map((state.unfit ?? []).map(({ key, lastupdated }) => [key, lastupdated]));
  for (const window of windowsOver([...noted.values()]))
    for await (const item of updatesOf(source, { ...window, ...asked })) {
      if (noted.get(unfitKey(item.id)) !== item.lastupdated) continue;
      const next = withUnfit(left, [item]);
      try {
        await store.mend({ upserts: [item], removed: [], state: next });
        left = next;
      } catch (error) {
        if (!store.isUnfit(error)) throw error;
      }
    }
  return left;
}

/** Those of these records that the source does not deliver as they are held. */
async function notDelivered(
  source: HarvestSource,
  extra: CopyDifference[],
  asked: VerifyOptions,
): Promise<string[]> {
  const left = new Map(extra.map(({ id, held = '' }) => [id, held]));
  for (const window of windowsOver([...left.values()]))
    for await (const { id, lastupdated } of updatesOf(source, { ...window, ...asked }))
      if (left.get(id) === lastupdated) left.delete(id);
  return [...left.keys()];
}

async function* updatesOf(source: HarvestSource, within: StampedWithin): AsyncIterable<ToldUpsert> {
  for await (const item of source.updates(within)) yield { op: 'upsert', ...item };
}
