import type { ToldChange, ToldPage } from './source.js';
import type { UnfitRecord } from './unfit.js';

const LONGEST_ID = 200;
const NEWEST = 8;

/**
 * What a copy is doing. A new start over what is held goes through all of them: `starting` reads everything,
 * `catching-up` reads what changed meanwhile, `sweeping` removes what neither told of.
 */
export type CopyPhase = 'following' | 'starting' | 'catching-up' | 'sweeping';

/** A change that a copy received. */
export interface NewestTold {
  /** The first 200 characters of the record's `id`. */
  id: string;
  lastupdated: string;
}

/** How far a copy is; stored with the items of each page in one transaction. */
export interface CopyState {
  feed: string;
  phase: CopyPhase;
  /** What is told of is marked with it; a new start has a greater one. */
  generation: number;
  /** Of the page that was applied last; nothing at the beginning. */
  cursor?: string;
  /** Whether that page has left its window open. */
  isWithin: boolean;
  /** Where the last complete window ended. */
  to?: string;
  /** The changes with the greatest stamps since the last new start, the newest first, at most eight. */
  newest?: NewestTold[];
  /** The source was found to be restored from an earlier copy: no harvest goes on before a new start. */
  isRestored?: boolean;
  /** Records that the store cannot hold; absent where it holds all. */
  unfit?: UnfitRecord[];
}

/** The state of a copy before its first harvest. `held` is the newest generation in it; undefined if it is empty. */
export function firstState(feed: string, held: number | undefined): CopyState {
  const begun = { feed, isWithin: false };
  return held === undefined
    ? { ...begun, phase: 'following', generation: 1 }
    : { ...begun, phase: 'starting', generation: held + 1 };
}

/** A new start over what is held: nothing is removed before everything was told once more. */
export function startedOver({ feed, generation, to, unfit }: CopyState): CopyState {
  const begun: CopyState = {
    ...{ feed, phase: 'starting', generation: generation + 1, isWithin: false },
    ...(unfit && { unfit }),
  };
  return to === undefined ? begun : { ...begun, to };
}

/** The state after a page. */
export function behindPage(before: CopyState, { result, next, cursor, to }: ToldPage): CopyState {
  const newest = newestOf(before.newest, result);
  const state = { ...before, cursor, ...(newest.length > 0 && { newest }) };
  if (next !== undefined) return { ...state, isWithin: true };
  return { ...state, isWithin: false, to, phase: behindWindow(before.phase) };
}

/** One for each record. */
function newestOf(known: NewestTold[] = [], told: ToldChange[]): NewestTold[] {
  const all = new Map(known.map((one) => [one.id, one]));
  for (const { id: whole, lastupdated } of told) {
    const id = whole.slice(0, LONGEST_ID);
    if (lastupdated > (all.get(id)?.lastupdated ?? '')) all.set(id, { id, lastupdated });
  }
  return [...all.values()].sort(newestFirst).slice(0, NEWEST);
}

function newestFirst(one: NewestTold, other: NewestTold): number {
  return one.lastupdated > other.lastupdated ? -1 : 1;
}

/** Whether a change is of the same record. */
export function isOf({ id }: NewestTold, change: ToldChange): boolean {
  return change.id.slice(0, LONGEST_ID) === id;
}

/**
 * A record that changes while the first window is read may be told of by the next one only. So nothing is removed before
 * that one has ended too.
 */
function behindWindow(phase: CopyPhase): CopyPhase {
  if (phase === 'starting') return 'catching-up';
  return phase === 'catching-up' ? 'sweeping' : phase;
}
