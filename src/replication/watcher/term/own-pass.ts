import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import type { Tenant } from '../../../record/index.js';
import { Reader } from '../log/change-stream.js';
import type { Fences, Mark, AsideApplication, PassProgress } from '../../protocol/index.js';
import { MARK_MODEL, readFences, TermOverError } from '../../store/index.js';
import { KindPasses } from '../pass/kind-passes.js';
import { Pass, placeOfStream } from '../pass/pass.js';
import { StreamWork, type Term } from './stream-work.js';

/** Longest wait for stream events during a pass (milliseconds). */
const PASS_WAIT_MS = 50;

/** What a pass over one application needs from its lane. */
interface OwnPassRun {
  /** Its share is the application. */
  term: Term;
  tenant: Tenant;
  stored: PassProgress;
  /** The fences of the application, updated in place. */
  fences: Fences;
  /** Stores the progress of the pass. */
  save: (pass: PassProgress) => Promise<void>;
}

/** A pass over one application, with a stream of its own beside it (design §10). */
@Injectable()
export class OwnPass {
  constructor(
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    private readonly pass: Pass,
    private readonly work: StreamWork,
    private readonly kindPasses: KindPasses,
  ) {}

  /**
   * Returns where the application resumes in the log, and from which time on it can be shown. Throws a HistoryLostError if
   * the stream of an interrupted pass cannot resume, and a TermOverError if the lane is stopped.
   */
  async run(run: OwnPassRun): Promise<Required<Pick<AsideApplication, 'token' | 'watched' | 'since'>>> {
    const { term, tenant, fences, save } = run;
    const progress = await this.pass.prepareOwn(tenant, run.stored);
    const { reached } = progress;
    if (reached !== undefined) await this.work.assertPast(reached.token);
    const stream = this.work.open(term, reached?.token, { longestWait: PASS_WAIT_MS });
    try {
      const reader = new Reader(stream);
      const opening = await reader.next();
      // Read after the stream is opened, because the stream does not contain earlier announcements.
      await this.takeFences(fences, tenant);
      const { at } = (progress.reached ??= placeOfStream(opening));
      // Before any effect, because the write fails for a superseded leader, whose stream may have been opened at a
      // later place than that of the current leader.
      await save(progress);
      await this.work.workThrough(term, opening, fences);
      await this.pass.run({
        at,
        progress,
        stop: term.stop,
        term,
        kinds: this.kindPasses.begun(),
        save,
        keepUp: () => {
          term.showLife();
          return reader.keepUp(async (batch) => {
            await this.work.workThrough(term, batch, fences);
          });
        },
        token: () => reader.last.token,
      });
      if (term.stop.aborted) throw new TermOverError();
      const { token, until } = reader.last;
      return { token, watched: until, since: await this.work.presentTime() };
    } finally {
      await stream.return();
    }
  }

  private async takeFences(fences: Fences, { organizationid, appid }: Tenant): Promise<void> {
    const own = await readFences(this.marks, { organizationid, appid });
    for (const [name, fence] of own) fences.set(name, fence);
  }
}
