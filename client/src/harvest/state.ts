import type { ToldPage } from './source.js';
import type { UnfitRecord } from './unfit.js';

/**
 * What a copy is doing. A new start over what is held goes through all of them: `starting` reads everything,
 * `catching-up` reads what changed meanwhile, `sweeping` removes what neither told of.
 */
export type CopyPhase = 'following' | 'starting' | 'catching-up' | 'sweeping';

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
export function behindPage(state: CopyState, { next, cursor, to }: ToldPage): CopyState {
  if (next !== undefined) return { ...state, cursor, isWithin: true };
  return { ...state, cursor, isWithin: false, to, phase: behindWindow(state.phase) };
}

/**
 * A record that changes while the first window is read may be told of by the next one only. So nothing is removed before
 * that one has ended too.
 */
function behindWindow(phase: CopyPhase): CopyPhase {
  if (phase === 'starting') return 'catching-up';
  return phase === 'catching-up' ? 'sweeping' : phase;
}
