import { setImmediate as turn } from 'node:timers/promises';
import { Mending } from './mending.js';
import { oncePerId } from './once-per-id.js';
import { LastTold, SourceRestoredError } from './restored.js';
import type { HarvestSource, ReadFrom, ToldChange, ToldPage } from './source.js';
import { behindPage, type CopyState, firstState, startedOver } from './state.js';
import type { AppliedPage, CopyStore } from './store.js';
import { MOST_UNFIT, type UnfitRecord, unfitKey, unfitRecord, withUnfit, withUnfitOf } from './unfit.js';

/** Without this limit, a harvest that takes longer than the service keeps its history would start over forever. */
const MOST_STARTS = 3;

export interface HarvestOptions {
  signal?: AbortSignal;
  /** Reads everything again into the same copy; records that it does not return are removed at the end. */
  startsOver?: boolean;
  /** Called after each stored page. */
  onPage?: (harvested: Harvested) => void;
}

/** Who is to know of the pages of a harvest. */
interface Telling {
  onPage: HarvestOptions['onPage'];
  harvested: Harvested;
  lastTold: LastTold;
}

/** What one harvest did. */
export interface Harvested {
  pages: number;
  upserts: number;
  deletes: number;
  /** How often it started over. */
  starts: number;
  /** Where the last complete window ended. */
  to?: string;
  /** Records that the copy cannot hold as they are now; absent if it holds all. */
  unfit?: UnfitRecord[];
}

/** A change that the store refuses, and what it says. */
interface RefusedChange {
  change: ToldChange;
  error: Error;
}

/** The copy is of another feed. */
export class OtherFeedError extends Error {
  override readonly name = 'OtherFeedError';

  constructor(held: string, asked: string) {
    super(`This is a copy of ${held}, not of ${asked}. Give another file or table, or ask for ${held}.`);
  }
}

/**
 * Keeps a copy equal to what a service delivers (contract §1, `changes`). If the process is killed at any point, the next
 * harvest continues after the last stored page.
 */
export class Harvester {
  /** `limit`: items of a page, 1,000 unless given. */
  constructor(
    private readonly source: HarvestSource,
    private readonly store: CopyStore,
    private readonly limit = 1000,
  ) {}

  /**
   * Reads on until a window that begins in this call has ended. Throws the problems of the source, what the store throws,
   * the reason of an aborted signal, {@link OtherFeedError}, and from the time when it is found until a new start
   * {@link SourceRestoredError}: what the source has lost may be in the copy alone, so no new start begins by itself.
   */
  async harvest({ signal, startsOver = false, onPage }: HarvestOptions = {}): Promise<Harvested> {
    const harvested: Harvested = { pages: 0, upserts: 0, deletes: 0, starts: 0 };
    let state = await this.begun();
    if (startsOver) state = await this.startOver(state, harvested);
    else if (state.isRestored === true) throw new SourceRestoredError();
    let lastTold = new LastTold(state);
    for (;;) {
      signal?.throwIfAborted();
      if (state.phase === 'sweeping') state = await this.sweep(state, harvested);
      const wasWithin = state.isWithin;
      try {
        state = await this.window(state, { harvested, onPage, lastTold }, signal);
      } catch (error) {
        if (this.source.isSourceRestored(error)) await this.endRestored(state, error);
        if (!this.source.isHistoryExpired(error) || harvested.starts === MOST_STARTS) throw error;
        state = await this.startOver((await this.store.state()) ?? state, harvested);
        lastTold = new LastTold({});
        continue;
      }
      if (state.phase === 'sweeping') state = await this.sweep(state, harvested);
      if (state.phase !== 'following' || wasWithin) continue;
      if (await lastTold.isForgotten(this.source, signal)) await this.endRestored(state);
      return withState(harvested, state);
    }
  }

  private async endRestored(known: CopyState, cause?: unknown): Promise<never> {
    const state = (await this.store.state()) ?? known;
    await this.store.apply({ changes: [], state: { ...state, isRestored: true } });
    throw new SourceRestoredError(cause === undefined ? {} : { cause });
  }

  private async begun(): Promise<CopyState> {
    const { feed } = this.source;
    const state = await this.store.state();
    if (state === undefined) return firstState(feed, await this.store.newestGeneration());
    if (state.feed !== feed) throw new OtherFeedError(state.feed, feed);
    return state.cursor === undefined && state.phase === 'following' ? this.begunInPart(state) : state;
  }

  /** If only a part of the first page was stored, the next harvest reads deletes too: the copy is not empty any more. */
  private async begunInPart(state: CopyState): Promise<CopyState> {
    const held = await this.store.newestGeneration();
    return held === undefined ? state : { ...state, phase: 'starting', generation: held + 1 };
  }

  private async startOver(state: CopyState, harvested: Harvested): Promise<CopyState> {
    harvested.starts += 1;
    const anew = startedOver(state);
    await this.store.apply({ changes: [], state: anew });
    return anew;
  }

  private async sweep(state: CopyState, harvested: Harvested): Promise<CopyState> {
    const swept: CopyState = { ...withUnfitOf(state), phase: 'following' };
    try {
      harvested.deletes += await this.store.sweep(swept);
      return swept;
    } catch (error) {
      if (!this.store.isUnfit(error)) throw error;
    }
    return this.sweepInPieces(state, harvested);
  }

  /**
   * The store refused to remove a record: removes the records one batch at a time, and notes those that it refuses. A record that the
   * source delivered and the store could not hold stays: it has a note already.
   */
  private async sweepInPieces(state: CopyState, harvested: Harvested): Promise<CopyState> {
    const mending = new Mending(this.store, state);
    const told = toldOf(state);
    for await (const batch of this.store.held()) {
      const old = batch.filter(
        ({ id, generation }) => generation < state.generation && !told.has(unfitKey(id)),
      );
      if (old.length > 0) await mending.remove(old);
    }
    harvested.deletes += mending.removed;
    const swept: CopyState = { ...withUnfitOf(mending.state), phase: 'following' };
    await this.store.apply({ changes: [], state: swept });
    return swept;
  }

  /** While a page is stored, the next one is read already. */
  private async window(
    begun: CopyState,
    { harvested, onPage, lastTold }: Telling,
    signal?: AbortSignal,
  ): Promise<CopyState> {
    const end = new AbortController();
    const abort = () => end.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const pages = this.source.pages({ ...this.asked(begun), signal: end.signal })[Symbol.asyncIterator]();
    let state = begun;
    try {
      let reading = pages.next();
      for (;;) {
        const read = await reading;
        if (read.done === true) throw new Error('The pages ended before their window did.');
        const page = read.value;
        signal?.throwIfAborted();
        if (page.next !== undefined) reading = readAhead(pages);
        await turn();
        state = await this.keep(oncePerId(page.result), state, behindPage(state, page));
        lastTold.see(page.result);
        count(harvested, page);
        onPage?.(withState(harvested, state));
        if (page.next === undefined) return state;
      }
    } finally {
      signal?.removeEventListener('abort', abort);
      end.abort();
      await pages.return?.().catch(() => undefined);
    }
  }

  /** Stores a page with the state after it. A record that the store cannot hold is noted in the state instead. */
  private async keep(changes: ToldChange[], before: CopyState, after: CopyState): Promise<CopyState> {
    const state = withUnfit(after, changes);
    try {
      await this.write({ changes, state }, before);
      return state;
    } catch (error) {
      if (!this.store.isUnfit(error)) throw error;
    }
    const refused = await this.inPieces(changes, before);
    const unfit = (await this.notable(refused)).map(({ change, error }) =>
      unfitRecord(change, error, { generation: before.generation, isRemoval: change.op === 'delete' }),
    );
    const [first] = refused;
    if (first !== undefined && unfit.length + (before.unfit?.length ?? 0) > MOST_UNFIT) throw first.error;
    const noted = withUnfit(after, changes, unfit);
    await this.store.apply({ changes: [], state: noted });
    return noted;
  }

  /**
   * A new start tells each record as it is now: the copy takes it also in place of a later state, which a restored source has
   * lost.
   */
  private write({ changes, state }: AppliedPage, { phase }: CopyState): Promise<void> {
    if (phase !== 'starting') return this.store.apply({ changes, state });
    const upserts = changes.filter((change) => change.op === 'upsert');
    const removed = changes.filter(({ op }) => op === 'delete').map(({ id }) => id);
    return this.store.mend({ upserts, removed, state });
  }

  /** Stores what fits, piece by piece: until the page is whole, the state is the one before it. Answers what does not fit. */
  private async inPieces(changes: ToldChange[], before: CopyState): Promise<RefusedChange[]> {
    const refused: RefusedChange[] = [];
    const half = Math.ceil(changes.length / 2);
    for (const piece of [changes.slice(0, half), changes.slice(half)]) {
      if (piece.length === 0) continue;
      const error = await this.refusal(piece, before);
      if (error === undefined) continue;
      if (piece.length > 1) refused.push(...(await this.inPieces(piece, before)));
      else refused.push(await this.outOfDate(piece[0]!, error, before));
      if (refused.length > MOST_UNFIT) throw error;
    }
    return refused;
  }

  /** What the store has against a piece; nothing if it stored it. */
  private async refusal(changes: ToldChange[], state: CopyState): Promise<Error | undefined> {
    try {
      await this.write({ changes, state }, state);
      return undefined;
    } catch (error) {
      if (!this.store.isUnfit(error)) throw error;
      return error as Error;
    }
  }

  /** What the copy holds of a record that does not fit is out of date, and removed, if the store can do that. */
  private async outOfDate(change: ToldChange, error: Error, before: CopyState): Promise<RefusedChange> {
    const { id, lastupdated } = change;
    if (change.op === 'upsert') await this.refusal([{ op: 'delete', id, lastupdated }], before);
    return { change, error };
  }

  /** A refused delete matters if the copy holds the record. */
  private async notable(refused: RefusedChange[]): Promise<RefusedChange[]> {
    const noted: RefusedChange[] = [];
    for (const one of refused)
      if (one.change.op === 'upsert' || (await this.holds(one.change.id))) noted.push(one);
    return noted;
  }

  private async holds(id: string): Promise<boolean> {
    try {
      return await this.store.has(id);
    } catch (error) {
      if (!this.store.isUnfit(error)) throw error;
      return false;
    }
  }

  /** An empty copy holds nothing that is dead: only then deletes are left out. */
  private asked({ cursor, phase }: CopyState): ReadFrom {
    const { limit } = this;
    if (cursor !== undefined) return { cursor, limit };
    return phase === 'following' ? { deletes: 'skip', limit } : { limit };
  }
}

/** The keys of records that the source has delivered since the last new start and the store cannot hold. */
function toldOf({ generation, unfit = [] }: CopyState): Set<string> {
  const told = unfit.filter((one) => one.generation === generation && one.isRemoval !== true);
  return new Set(told.map(({ key }) => key));
}

/** A failure reaches the caller that awaits the page. The empty handler covers a page that is no longer awaited. */
function readAhead(pages: AsyncIterator<ToldPage>): Promise<IteratorResult<ToldPage>> {
  const reading = pages.next();
  reading.catch(() => undefined);
  return reading;
}

function count(harvested: Harvested, { result }: ToldPage): void {
  const deletes = result.filter(({ op }) => op === 'delete').length;
  harvested.pages += 1;
  harvested.deletes += deletes;
  harvested.upserts += result.length - deletes;
}

function withState(harvested: Harvested, { to, unfit }: CopyState): Harvested {
  return { ...harvested, ...(to !== undefined && { to }), ...(unfit !== undefined && { unfit }) };
}
