import { Injectable, Logger } from '@nestjs/common';
import { mongo } from 'mongoose';
import { FilterChanges } from '../../filters/index.js';
import { HistoryLostError } from '../../log/index.js';
import { type AsideApplication, knownAside, type WatchState } from '../../progress/index.js';
import { Quarantine } from '../../quarantine/index.js';
import { IgnoredRecords } from '../../repair/index.js';
import { Jobs } from '../jobs.js';
import { isPassStored } from '../pass/stored-pass.js';
import { Orphans } from '../orphans.js';
import { Beginning } from './beginning.js';
import { Following } from './following.js';
import { StreamWork } from './stream-work.js';
import type { Start, Term } from './term.js';

/** What a leader does for as long as its term lasts: go on from the token, or begin with a pass. */
@Injectable()
export class Leadership {
  private readonly log = new Logger('Watcher');

  constructor(
    private readonly beginning: Beginning,
    private readonly following: Following,
    private readonly work: StreamWork,
    private readonly filters: FilterChanges,
    private readonly quarantine: Quarantine,
    private readonly ignored: IgnoredRecords,
    private readonly jobs: Jobs,
    private readonly orphans: Orphans,
  ) {}

  /** Ends when `stop` is aborted, or throws: TermOverError, or what the database threw. */
  async lead(term: Term): Promise<void> {
    this.quarantine.beginTerm();
    await this.orphans.end();
    const over = new AbortController();
    const kept = this.jobs.run(AbortSignal.any([term.stop, over.signal]), term);
    try {
      await this.go(term);
    } finally {
      over.abort();
      await kept;
      this.ignored.reset();
      this.filters.leave();
    }
  }

  private async go(term: Term): Promise<void> {
    const { since, token, pass } = term.state;
    let start: Start | undefined = since && token && !pass ? { token, since } : undefined;
    let reason = pass?.reason ?? (since === undefined ? 'first start' : 'no token');
    while (!term.stop.aborted) {
      try {
        if (start === undefined) start = await this.beginning.begin(term, reason);
        else await this.resume(term, start);
        return start && (await this.following.follow(term, start));
      } catch (error) {
        if (!(error instanceof HistoryLostError)) throw error;
        this.log.error(error.message);
        delete term.state.pass?.reached;
        reason = error.message;
        start = undefined;
      }
    }
  }

  private async resume(term: Term, { token }: Start): Promise<void> {
    const places = asideIn(term.state).flatMap((one) => (one.pass === undefined ? [one.token] : []));
    for (const place of [token, ...places]) await this.work.assertPast(place);
    // What changed before this leader began is not told to it.
    await this.filters.look(undefined, term);
  }
}

/** Throws a HistoryLostError if the places of applications that are aside are damaged. */
function asideIn(state: WatchState): AsideApplication[] {
  const aside: unknown = state.aside ?? [];
  const known = knownAside(state) as AsideApplication[];
  const names = new Set(known.map(({ organizationid, appid }) => JSON.stringify([organizationid, appid])));
  const isPlaced = known.every(({ token, since, pass }) =>
    pass === undefined
      ? typeof (token as { _data?: unknown } | null)?._data === 'string' &&
        (since === undefined || since instanceof mongo.Timestamp)
      : isPassStored(pass),
  );
  if (!Array.isArray(aside) || names.size < aside.length || !isPlaced)
    throw new HistoryLostError('the places of the applications that are aside are damaged');
  return known;
}
