import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { Metrics } from '../../../observability/index.js';
import { statedIndex } from '../../../database/index.js';
import { COLLECTION_OF, type Kind, KINDS, type Tenant } from '../../../record/index.js';
import { INCOMPLETE_IDENTITIES, Ledger, LEDGER, LedgerSlices } from '../../ledger/index.js';
import type { Batch } from '../../log/index.js';
import {
  neverPassed,
  type PassPlace,
  type PassProgress,
  type PassState,
  placeBehind,
  recordsAlong,
  Tempo,
} from '../../progress/index.js';
import { Quarantine } from '../../quarantine/index.js';
import { STRETCH_MS, walk } from '../../walk/index.js';
import { largeApplications } from './large-applications.js';
import type { PassRun } from './pass-run.js';
import { PassSteps, type PassStep } from './pass-steps.js';
import { isPassStored } from './stored-pass.js';

const TELL_MS = 2000;

/**
 * The pass over everything that is there, or over one application (design §3, §10): learns every record, repairs what is to repair, then every living
 * ledger entry without its record is a delete. After a lost history everything is stamped anew, tombstones too, since
 * what cannot be proven unchanged is changed. What the stream tells afterwards overrides all of it.
 *
 * It may go on where it was cut off, since the stream does so too: what changed meanwhile behind its back is told there.
 */
@Injectable()
export class Pass {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly slices: LedgerSlices,
    private readonly steps: PassSteps,
    private readonly quarantine: Quarantine,
    private readonly metrics: Metrics,
  ) {}

  /** A new pass over everything but the large applications; or the one that was cut off, if its place is known. */
  async prepare(reason: string, isRepair: boolean, state: PassState): Promise<PassProgress> {
    const { pass: cutOff } = state;
    if (cutOff?.reached !== undefined && isPassStored(cutOff)) {
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
    const later = await largeApplications(this.connection);
    const first = neverPassed(state);
    return { reason, isRepair, isBare, started: new Date(), done: 0, total, later, first };
  }

  /** The same of a pass over one application. */
  async prepareOwn(tenant: Tenant, told: PassProgress): Promise<PassProgress> {
    const { reason, isRepair, started, isFirst } = told;
    if (told.reached !== undefined) return told;
    // All at once: each may take as long as a stretch, and a lane shows no life meanwhile.
    const [entries, ...records] = await Promise.all([
      this.slices.countOf(tenant).catch(() => undefined),
      ...KINDS.map((kind) => this.countRecords(kind, tenant).catch(() => 0)),
    ]);
    const size = records.reduce((sum, one) => sum + one, 0);
    // Only what is known to have no entry is bare: else deletes would be missed.
    const isBare = told.isBare === true && entries === 0;
    const total = size + 2 * (entries ?? 0);
    return { reason, isRepair, isBare, ...(isFirst && { isFirst }), started, done: 0, total };
  }

  /** Where it is stopped, its place is the last one that was told: what was under way counts as not done. */
  async run(run: PassRun): Promise<void> {
    const { at, progress, stop, token } = run;
    const teller = new Teller(run, this.log);
    const steps = this.steps.list(run);
    const cutOff = progress.reached;
    const begun = steps.findIndex(({ name }) => name === cutOff?.step);
    for (const step of steps.slice(Math.max(0, begun))) {
      const behind = step.name === cutOff?.step ? cutOff.behind : undefined;
      progress.reached = { at, token: token(), step: step.name, ...(behind && { behind }) };
      await this.take(step, run, progress.reached, teller);
      if (stop.aborted) return;
    }
    await run.tell(progress);
  }

  private async take(step: PassStep, run: PassRun, reached: PassPlace, teller: Teller): Promise<void> {
    let count = 0;
    await walk(reached.behind, {
      next: step.next,
      work: step.work,
      leave: (stretch, error) =>
        this.quarantine.setAside(step.concern(stretch), `the pass over ${step.name}`, error),
      advance: async (stretch) => {
        count += stretch.count;
        await run.keepUp();
        Object.assign(reached, { behind: stretch.end, token: run.token() });
        await teller.advance(stretch.count);
      },
      stop: run.stop,
      term: run.term,
    });
    this.log[count === 0 ? 'debug' : 'log'](`Pass over ${nameOf(run, step.name)}: ${count}`);
  }

  private async countRecords(kind: Kind, { organizationid, appid }: Tenant): Promise<number> {
    const records = this.connection.collection(COLLECTION_OF[kind]);
    const hint = await statedIndex(records, recordsAlong({ only: { organizationid, appid } }));
    return records.countDocuments({ organizationid, appid }, { hint, maxTimeMS: STRETCH_MS });
  }
}

/** Where a pass stands that has done nothing yet: what it learns is knowledge of the place where its stream was opened. */
export function placeOfStream({ until, token }: Batch): PassPlace {
  return { at: placeBehind(until), token, step: '' };
}

/** Tells from time to time how far a pass has come. */
class Teller {
  private toldAt = -Infinity;
  private readonly tempo: Tempo;

  constructor(
    private readonly run: PassRun,
    private readonly log: Logger,
  ) {
    this.tempo = new Tempo(lookAt(run.progress));
  }

  async advance(count: number): Promise<void> {
    const { run } = this;
    const { progress } = run;
    progress.done += count;
    if (performance.now() - this.toldAt < TELL_MS) return;
    this.toldAt = performance.now();
    progress.pace = this.tempo.look(lookAt(progress));
    const { done, total } = progress;
    this.log.log(`Pass${nameOf(run, '')}: ${done} of about ${total} records and ledger entries`);
    await run.tell(progress);
  }
}

/** The name of a step, with the application that the pass is about alone. */
function nameOf({ term: { share } }: PassRun, step: string): string {
  if (!('only' in share)) return step;
  const { organizationid, appid } = share.only;
  return `${step} of application ${appid} of ${organizationid}`;
}

function lookAt({ done }: PassProgress) {
  return { at: performance.now(), done };
}
