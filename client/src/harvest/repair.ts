import { Mending } from './mending.js';
import type { HarvestSource, StampedWithin, ToldUpsert } from './source.js';
import type { CopyState } from './state.js';
import type { HeldStamp } from './store.js';
import { unfitKey } from './unfit.js';
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
  const mending = new Mending(compared.store, withoutRemoved(verified, differences));
  await tryAgain(compared, mending, asked);
  const extra = await notDelivered(
    compared.source,
    differences.filter(({ told }) => told === undefined),
    { ...asked, removed: removedIn(verified), to: verified.to },
  );
  for (let at = 0; at < extra.length; at += BATCH) await mending.remove(extra.slice(at, at + BATCH));
  const wanted = new Map(differences.flatMap(({ id, told }) => (told === undefined ? [] : [[id, told]])));
  for (const window of windowsOver([...wanted.values()])) {
    let batch: ToldUpsert[] = [];
    for await (const item of updatesOf(compared.source, { ...window, ...asked })) {
      if (wanted.get(item.id) === item.lastupdated) batch.push(item);
      if (batch.length < BATCH) continue;
      await mending.put(batch);
      batch = [];
    }
    if (batch.length > 0) await mending.put(batch);
  }
  await mending.keepNotes();
  return { mended: differences, left: await verify(compared, asked) };
}

/** Without notes of records that the copy could not remove, and that it does not hold any more. */
function withoutRemoved(state: CopyState, differences: CopyDifference[]): CopyState {
  const { unfit: noted = [], ...rest } = state;
  const held = new Set(differences.map(({ id }) => unfitKey(id)));
  const unfit = noted.filter(({ key, isRemoval }) => isRemoval !== true || held.has(key));
  return unfit.length === 0 ? rest : { ...rest, unfit };
}

/** Tries once more what the store could not hold: it may have been given room since. */
async function tryAgain({ source }: Compared, mending: Mending, asked: VerifyOptions): Promise<void> {
  const refused = (mending.state.unfit ?? []).filter(({ isRemoval }) => isRemoval !== true);
  const noted = new Map(refused.map(({ key, lastupdated }) => [key, lastupdated]));
  for (const window of windowsOver([...noted.values()]))
    for await (const item of updatesOf(source, { ...window, ...asked }))
      if (noted.get(unfitKey(item.id)) === item.lastupdated) await mending.put([item]);
}

/** The keys of records that the source has removed and the store has not. */
function removedIn({ unfit = [] }: CopyState): Set<string> {
  return new Set(unfit.filter(({ isRemoval }) => isRemoval === true).map(({ key }) => key));
}

interface AskedDelivered extends VerifyOptions {
  removed: Set<string>;
  /** Up to which moment the copy was harvested. */
  to: string | undefined;
}

/**
 * Those of these records that the source does not deliver as they are held. It is not asked for those that it has removed: up
 * to the stamp of one it shows a moment at which that one was there. Nor is it asked for a stamp in its future, such as that of
 * a row that another program has added: it refuses a time that it has not reached.
 */
async function notDelivered(
  source: HarvestSource,
  extra: CopyDifference[],
  { removed, to, ...asked }: AskedDelivered,
): Promise<HeldStamp[]> {
  const left = new Map(extra.map(({ id, held = '' }) => [id, held]));
  const latest = to === undefined ? Infinity : Date.parse(to);
  const doubtful = extra.filter(
    ({ id, held = '' }) => !removed.has(unfitKey(id)) && Date.parse(held) <= latest,
  );
  for (const window of windowsOver(doubtful.map(({ held = '' }) => held)))
    for await (const { id, lastupdated } of updatesOf(source, { ...window, ...asked }))
      if (left.get(id) === lastupdated && !removed.has(unfitKey(id))) left.delete(id);
  return Array.from(left, ([id, lastupdated]) => ({ id, lastupdated }));
}

async function* updatesOf(source: HarvestSource, within: StampedWithin): AsyncIterable<ToldUpsert> {
  for await (const item of source.updates(within)) yield { op: 'upsert', ...item };
}
