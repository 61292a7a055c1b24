import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { Metrics } from '../../../observability/index.js';
import { COLLECTION_OF, KINDS } from '../../../record/index.js';
import { INCOMPLETE_IDENTITIES, Ledger, LEDGER } from '../../ledger/index.js';
import { type PassPlace, type PassProgress, Tempo } from '../../progress/index.js';
import { Quarantine } from '../../quarantine/index.js';
import { type Found, walk } from '../../walk/index.js';
import type { PassRun } from './pass-run.js';
import { PassSteps, type PassStep } from './pass-steps.js';

const TELL_MS = 2000;

/**
 * The pass over everything that is there (design §3): learns every record, repairs what is to repair, then every living
 * ledger entry without its record is a delete. After a lost history everything is stamped anew, tombstones too, since
 * what cannot be proven unchanged is changed. What the stream tells afterwards overrides all of it.
 *
 * It may go on where it was cut off, since the stream does so too: what changed meanwhile behind its back is told there.
 */
@Injectable()
export class Pass {
  private readonly log = new Logger('Watcher');
  private toldAt = -Infinity;
  private tempo = new Tempo({ at: 0, done: 0 });

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly steps: PassSteps,
    private readonly quarantine: Quarantine,
    private readonly metrics: Metrics,
  ) {}

  /** A new pass; or the one that was cut off, if its place is known. */
  async prepare(reason: string, isRepair: boolean, cutOff?: PassProgress): Promise<PassProgress> {
    if (cutOff?.reached !== undefined) {
      this.log.log(`The pass over all records goes on (${reason})`);
      return cutOff;
    }
    this.log.log(`A pass over all records begins (${reason})`);
    this.metrics.passes.inc({ reason: isRepair ? 'repair' : 'first start' });
    const isBare = !isRepair && !(await this.ledger.isBegun());
    const [entries = 0, incomplete = 0, ...records] = await Promise.all(
      [LEDGER, INCOMPLETE_IDENTITIES, ...KINDS.map((kind) => COLLECTION_OF[kind])].map((name) =>
        this.connection.collection(name).estimatedDocumentCount(),
      ),
    );
    const living = isBare ? 0 : await this.ledger.countLiving().catch(() => entries);
    const size = { records: records.reduce((sum, one) => sum + one, 0), entries, living, incomplete, isBare };
    const total = this.steps.total(size);
    return { reason, isRepair, isBare, started: new Date(), done: 0, total };
  }

  /** Where it is stopped, its place is the last one that was told: what was under way counts as not done. */
  async run(run: PassRun): Promise<void> {
    const { at, progress, stop, token } = run;
    this.tempo = new Tempo(lookAt(progress));
    const steps = this.steps.list(run);
    const cutOff = progress.reached;
    const begun = steps.findIndex(({ name }) => name === cutOff?.step);
    for (const step of steps.slice(Math.max(0, begun))) {
      const behind = step.name === cutOff?.step ? cutOff.behind : undefined;
      progress.reached = { at, token: token(), step: step.name, ...(behind && { behind }) };
      await this.take(step, run, progress.reached);
      if (stop.aborted) return;
    }
    await run.tell(progress);
  }

  private async take(step: PassStep, run: PassRun, reached: PassPlace): Promise<void> {
    let count = 0;
    await walk(reached.behind, {
      next: step.next,
      work: step.work,
      leave: ({ end }, error) =>
        this.quarantine.setAside(step.concern(end), `the pass over ${step.name}`, error),
      advance: async (stretch) => {
        count += stretch.count;
        await this.advance(run, reached, stretch);
      },
      stop: run.stop,
      term: run.term,
    });
    this.log[count === 0 ? 'debug' : 'log'](`Pass over ${step.name}: ${count}`);
  }

  private async advance(
    { progress, tell, keepUp, token }: PassRun,
    reached: PassPlace,
    { end, count }: Found,
  ): Promise<void> {
    await keepUp();
    Object.assign(reached, { behind: end, token: token() });
    progress.done += count;
    if (performance.now() - this.toldAt < TELL_MS) return;
    this.toldAt = performance.now();
    progress.pace = this.tempo.look(lookAt(progress));
    this.log.log(`Pass: ${progress.done} of about ${progress.total} records and ledger entries`);
    await tell(progress);
  }
}

function lookAt({ done }: PassProgress) {
  return { at: performance.now(), done };
}
